//! What runs for this clone, as a file a service tells it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::error::{DevstackError, OnPath};
use crate::identity;
use crate::layout::Layout;
use crate::memory;

/// How long a service may take to end after it was asked to, before it is killed.
const STOP_MAX: Duration = Duration::from_secs(40);

/// How often an ending service is looked at: the system tells only a parent that a process has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The file `<stack>/run/<service>.json`.
#[derive(Clone, Debug)]
pub struct ServiceFile {
    /// The service's name: `kafka`, `postgres`, `mail` or `waybill`.
    pub name: String,
    path: PathBuf,
    log: PathBuf,
}

/// A service that runs now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its process id, which is also its process group's.
    pub pid: i32,
    /// Its program.
    pub command: String,
    started: String,
    stop_signal: String,
}

/// How a service ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It did not run.
    WasNotRunning,
    /// It ended when asked to.
    Ended,
    /// It had to be killed.
    Killed,
}

impl ServiceFile {
    /// The file of the service in this stack, whether it runs or not.
    #[must_use]
    pub fn of(layout: &Layout, name: &str) -> Self {
        let path = layout.run().join(format!("{name}.json"));
        Self { name: name.to_owned(), path, log: layout.logs().join(format!("{name}.log")) }
    }

    /// Where the service logs.
    #[must_use]
    pub fn log(&self) -> &PathBuf {
        &self.log
    }

    /// The process, if it is still the very one that was started.
    #[must_use]
    pub fn running(&self) -> Option<Running> {
        let text = fs::read_to_string(&self.path).ok()?;
        let running: Running = serde_json::from_str(&text).ok()?;
        running.is_itself().then_some(running)
    }

    pub(crate) fn write(
        &self,
        pid: Pid,
        command: &str,
        stop_signal: Signal,
    ) -> Result<Running, DevstackError> {
        let started = identity::started(pid).unwrap_or_default();
        let running = Running {
            pid: pid.as_raw(),
            command: command.to_owned(),
            started,
            stop_signal: stop_signal.to_string(),
        };
        let text = serde_json::to_string(&running).unwrap_or_default();
        let partial = self.path.with_extension("partial");
        fs::write(&partial, text).on("write", &partial)?;
        fs::rename(&partial, &self.path).on("complete", &self.path)?;
        Ok(running)
    }

    /// Asks it to end, waits, and kills its group when it does not. Touches no process but the one it started.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn stop(&self) -> Result<Stopped, DevstackError> {
        let Some(running) = self.running() else {
            self.forget()?;
            return Ok(Stopped::WasNotRunning);
        };
        let pid = Pid::from_raw(running.pid);
        let signal = running.stop_signal.parse().unwrap_or(Signal::SIGTERM);
        // It may end by itself at this very moment, which is what is wanted.
        let _ = kill(pid, signal);
        let stopped = if running.is_gone_within(STOP_MAX) {
            Stopped::Ended
        } else {
            let _ = killpg(pid, Signal::SIGKILL);
            running.is_gone_within(STOP_MAX);
            Stopped::Killed
        };
        self.forget()?;
        Ok(stopped)
    }

    fn forget(&self) -> Result<(), DevstackError> {
        if self.path.exists() { fs::remove_file(&self.path).on("remove", &self.path) } else { Ok(()) }
    }

    /// The last lines of its log.
    #[must_use]
    pub fn tail(&self, lines: usize) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

impl Running {
    /// Same start, same program: a pid that has gone to somebody else is neither.
    fn is_itself(&self) -> bool {
        let pid = Pid::from_raw(self.pid);
        let same_start = identity::started(pid).is_some_and(|started| started == self.started);
        // A process that is just being replaced by its program has an empty command line for a moment.
        let same_command = |line: String| line.is_empty() || line.contains(&self.command);
        same_start && identity::command_line(pid).is_some_and(same_command)
    }

    fn is_gone_within(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while self.is_itself() {
            if Instant::now() > deadline {
                return false;
            }
            thread::sleep(LOOK_INTERVAL);
        }
        true
    }

    /// Mebibytes that it and its children take, where the system tells.
    #[must_use]
    pub fn memory_mib(&self) -> Option<u64> {
        memory::mebibytes(Pid::from_raw(self.pid))
    }
}
