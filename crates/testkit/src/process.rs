//! Real `waybill` processes: started, stopped at a named point, killed, continued, and never left behind.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::Value;
use tokio::sync::watch;
use uuid::Uuid;

use crate::bounded::WAIT_MAX;
use crate::environment::waybill_binary;
use crate::log::{Event, Log};
use crate::settings::Settings;

/// What the operating system last said of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It runs.
    Running,
    /// It stands still by SIGSTOP: at its fault point, or because the test stopped it.
    Stopped,
    /// It ended by itself with this exit code.
    Exited(i32),
    /// A signal ended it.
    Killed(i32),
}

impl Status {
    fn is_over(self) -> bool {
        matches!(self, Self::Exited(_) | Self::Killed(_))
    }
}

/// How a process is to be started.
#[derive(Debug)]
pub struct Launch {
    /// What starts it, in place of the binary itself.
    wrapper: Vec<String>,
    arguments: Vec<String>,
    settings: Settings,
    environment: Vec<(String, String)>,
}

impl Launch {
    /// `waybill run ROLE…`.
    #[must_use]
    pub fn roles(roles: &[&str], settings: Settings) -> Self {
        let arguments = ["run"].iter().chain(roles).map(ToString::to_string).collect();
        Self { wrapper: Vec::new(), arguments, settings, environment: Vec::new() }
    }

    /// `waybill ARGUMENT…`.
    #[must_use]
    pub fn command(arguments: &[&str], settings: Settings) -> Self {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Self { wrapper: Vec::new(), arguments, settings, environment: Vec::new() }
    }

    /// It stops itself when it reaches this point: `worker.verified`, or `worker.verified#2` for the second time.
    #[must_use]
    pub fn fault_point(self, point: &str) -> Self {
        self.env("WAYBILL_FAULT_POINT", point)
    }

    /// Started by this program, which is given the binary and its arguments after these and must become it (`exec`).
    #[must_use]
    pub fn wrapped(self, wrapper: &[&str]) -> Self {
        Self { wrapper: wrapper.iter().map(ToString::to_string).collect(), ..self }
    }

    /// With a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts it.
    ///
    /// # Panics
    /// When the binary is missing or does not start.
    #[must_use]
    pub fn start(self) -> Process {
        let name = self.arguments.join(" ");
        let config = std::env::temp_dir().join(format!("waybill-test-{}.toml", Uuid::new_v4().simple()));
        fs::write(&config, self.settings.to_toml())
            .unwrap_or_else(|error| panic!("{}: {error}", config.display()));
        let mut command = match self.wrapper.split_first() {
            Some((program, before)) => {
                let mut command = Command::new(program);
                command.args(before).arg(waybill_binary());
                command
            }
            None => Command::new(waybill_binary()),
        };
        // A variable of the shell that runs the tests would win over the configuration.
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WAYBILL_"))
        {
            command.env_remove(name);
        }
        command.args(&self.arguments).env("WAYBILL_CONFIG", &config).envs(self.environment);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[expect(
            clippy::zombie_processes,
            reason = "a thread waits for the pid, which also tells of its stops"
        )]
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("cannot start waybill {name}: {error}"));
        let log = Log::empty();
        if let Some(pipe) = child.stdout.take() {
            log.follow(pipe);
        }
        if let Some(pipe) = child.stderr.take() {
            log.follow(pipe);
        }
        let pid = Pid::from_raw(child.id().cast_signed());
        Process { name, pid, log, status: watch_status(pid), config }
    }
}

/// A running process. Killed when this goes out of scope.
#[derive(Debug)]
pub struct Process {
    name: String,
    pid: Pid,
    log: Log,
    status: watch::Receiver<Status>,
    config: PathBuf,
}

impl Process {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What the operating system last said of it.
    #[must_use]
    pub fn status(&self) -> Status {
        *self.status.borrow()
    }

    /// Where it listens, as it logged when it did: `api` or `management`.
    ///
    /// # Panics
    /// When it has not said so in time, or ended.
    pub async fn listening(&self, listener: &str) -> SocketAddr {
        let wanted = |event: &Event<'_>| {
            let this = event.message() == "listening" && event.field("role") == Some(listener);
            this.then(|| event.field("address")?.parse().ok()).flatten()
        };
        self.while_running(&format!("its listener {listener}"), self.log.event(wanted)).await
    }

    /// The first event, past or to come, whose message begins like this.
    ///
    /// # Panics
    /// When none came in time, or the process ended.
    pub async fn logged(&self, message: &str) {
        let wanted = |event: &Event<'_>| event.message().starts_with(message).then_some(());
        self.while_running(&format!("the message {message:?}"), self.log.event(wanted)).await;
    }

    /// The first event, past or to come, with this message and this code: `degraded` and `recovered` are said so.
    ///
    /// # Panics
    /// When none came in time, or the process ended.
    pub async fn logged_code(&self, message: &str, code: &str) {
        let wanted = |event: &Event<'_>| {
            (event.message() == message && event.field("code") == Some(code)).then_some(())
        };
        self.while_running(&format!("{message:?} with {code}"), self.log.event(wanted)).await;
    }

    /// What it says of this metric now, the sum over all labels. 0 as long as it has said nothing.
    ///
    /// # Panics
    /// When its management listener does not answer.
    pub async fn metric(&self, name: &str) -> f64 {
        let (_, text) = self.managed("/metrics").await;
        let values = text.lines().filter_map(|line| {
            let rest = line.strip_prefix(name)?;
            let value = rest
                .strip_prefix('{')
                .map_or(rest, |labelled| labelled.rsplit_once('}').unwrap_or_default().1);
            value.strip_prefix(' ')?.trim().parse::<f64>().ok()
        });
        values.sum()
    }

    /// What it says of this metric now, label by label as it is written.
    ///
    /// # Panics
    /// When its management listener does not answer.
    pub async fn counts(&self, name: &str) -> Vec<(String, f64)> {
        let (_, text) = self.managed("/metrics").await;
        let labelled = text.lines().filter_map(|line| {
            let (labels, count) = line.strip_prefix(name)?.strip_prefix('{')?.rsplit_once("} ")?;
            Some((labels.to_owned(), count.trim().parse().ok()?))
        });
        labelled.collect()
    }

    /// The reason of this code in its `/readyz`, if it is there now. A process that gives only reasons that degrade it
    /// answers 200 all the same, so that a rollout can ship the fix.
    ///
    /// # Panics
    /// When its management listener does not answer, or says `degraded` otherwise than with 200.
    pub async fn reason(&self, code: &str) -> Option<Value> {
        self.reasons().await.into_iter().find(|reason| reason["code"] == code)
    }

    /// All reasons that are in its `/readyz` now, in the order of their components.
    ///
    /// # Panics
    /// As [`Process::reason`].
    pub async fn reasons(&self) -> Vec<Value> {
        let (status, text) = self.managed("/readyz").await;
        let mut report: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(report["status"] != "degraded" || status == 200, "{status} {text}");
        report["reasons"].as_array_mut().map(std::mem::take).unwrap_or_default()
    }

    async fn managed(&self, path: &str) -> (u16, String) {
        let url = format!("http://{}{path}", self.listening("management").await);
        let asked = async {
            let answer = reqwest::get(&url).await?;
            Ok::<_, reqwest::Error>((answer.status().as_u16(), answer.text().await?))
        };
        asked.await.unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    /// The most memory in KiB that it ever held, where the system tells.
    #[must_use]
    pub fn memory_peak_kib(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    }

    /// Waits until it stands still, at its fault point or by [`Process::stop`].
    ///
    /// # Panics
    /// When it did not in time, or ended.
    pub async fn wait_stopped(&self) {
        let what = "its stop";
        let status = self.until(what, |status| *status != Status::Running).await;
        assert!(status == Status::Stopped, "{}", self.in_vain(what));
    }

    /// Waits for its end, and gives its last status.
    ///
    /// # Panics
    /// When it did not end in time.
    pub async fn wait_over(&self) -> Status {
        self.until("its end", |status| status.is_over()).await
    }

    /// Sends SIGKILL and waits for the end.
    pub async fn kill(&self) {
        self.signal(Signal::SIGKILL);
        self.wait_over().await;
    }

    /// Sends SIGTERM and waits for the end.
    pub async fn terminate(&self) -> Status {
        self.signal(Signal::SIGTERM);
        self.wait_over().await
    }

    /// Sends SIGSTOP and waits until it stands still.
    pub async fn stop(&self) {
        self.signal(Signal::SIGSTOP);
        self.wait_stopped().await;
    }

    /// Sends SIGCONT and waits until it runs.
    pub async fn cont(&self) {
        self.signal(Signal::SIGCONT);
        self.until("its going on", |status| *status != Status::Stopped).await;
    }

    /// Sends SIGCONT and waits for nothing: it may stop again at its point at once.
    pub fn go_on(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Sends a signal, unless it is over.
    pub fn signal(&self, signal: Signal) {
        if !self.status().is_over() {
            // It may end at this very moment: then there is nobody to signal, which is what was wanted.
            let _ = kill(self.pid, signal);
        }
    }

    async fn until(&self, what: &str, wanted: impl FnMut(&Status) -> bool) -> Status {
        let mut status = self.status.clone();
        let waited = tokio::time::timeout(WAIT_MAX, status.wait_for(wanted)).await;
        match waited {
            Ok(Ok(status)) => *status,
            Ok(Err(_)) | Err(_) => panic!("{}", self.in_vain(what)),
        }
    }

    async fn while_running<T>(&self, what: &str, future: impl Future<Output = T>) -> T {
        let mut over = self.status.clone();
        let bounded = async {
            tokio::select! {
                found = future => Some(found),
                _ = over.wait_for(|status| status.is_over()) => None,
            }
        };
        match tokio::time::timeout(WAIT_MAX, bounded).await {
            Ok(Some(found)) => found,
            Ok(None) | Err(_) => panic!("{}", self.in_vain(what)),
        }
    }

    fn in_vain(&self, what: &str) -> String {
        let (name, status, tail) = (&self.name, self.status(), self.log.tail());
        format!("waybill {name} ({status:?}): waited in vain for {what}. The end of its log:\n{tail}")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        let _ = fs::remove_file(&self.config);
        if thread::panicking() {
            eprintln!(
                "--- waybill {} ({:?}), the end of its log:\n{}",
                self.name,
                self.status(),
                self.log.tail()
            );
        }
    }
}

/// Waits for the process in a thread of its own, because only `waitpid` tells of a stop as it tells of an end.
fn watch_status(pid: Pid) -> watch::Receiver<Status> {
    let (sender, receiver) = watch::channel(Status::Running);
    thread::spawn(move || {
        while !sender.borrow().is_over() {
            let flags = WaitPidFlag::WUNTRACED | WaitPidFlag::WCONTINUED;
            let status = match waitpid(pid, Some(flags)) {
                Ok(WaitStatus::Exited(_, code)) => Status::Exited(code),
                Ok(WaitStatus::Signaled(_, signal, _)) => Status::Killed(signal as i32),
                Ok(WaitStatus::Stopped(..)) => Status::Stopped,
                Ok(_) => Status::Running,
                Err(nix::errno::Errno::EINTR) => continue,
                // Somebody else reaped it, which only a bug of this crate could do.
                Err(_) => Status::Killed(0),
            };
            sender.send_replace(status);
        }
    });
    receiver
}
