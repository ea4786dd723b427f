//! Which process a pid is now: a pid alone may have gone to somebody else.

use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long a process that nobody recorded may take to end.
const END_MAX: Duration = Duration::from_secs(20);

/// Ends the process if its command line holds `mark`, and waits until it is gone.
pub(crate) fn end_if_it_runs(pid: Pid, mark: &str, signal: Signal) {
    let is_it = || started(pid).is_some() && command_line(pid).is_some_and(|line| line.contains(mark));
    let deadline = Instant::now() + END_MAX;
    if is_it() {
        // It may end by itself at this very moment, which is what is wanted.
        let _ = kill(pid, signal);
    }
    while is_it() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
}

/// What tells one process from a later one with the same pid: when it was started, by the system's own words.
pub(crate) fn started(pid: Pid) -> Option<String> {
    let (state, started) = state_and_start(pid)?;
    // A zombie is over: only its parent has not looked yet.
    (!state.starts_with('Z')).then_some(started)
}

/// Field 3 and field 22 of `/proc/<pid>/stat`, counted after the command's closing bracket.
#[cfg(target_os = "linux")]
fn state_and_start(pid: Pid) -> Option<(String, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.to_owned();
    Some((state, fields.nth(18)?.to_owned()))
}

/// macOS has no `/proc`, and always has `ps`.
#[cfg(not(target_os = "linux"))]
fn state_and_start(pid: Pid) -> Option<(String, String)> {
    let output = std::process::Command::new("ps")
        .env("LC_ALL", "C")
        .args(["-o", "state=,lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    let (state, started) = line.trim().split_once(' ')?;
    Some((state.to_owned(), started.trim().to_owned()))
}

/// The command line, as far as the system tells it.
#[cfg(target_os = "linux")]
pub(crate) fn command_line(pid: Pid) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(&bytes).replace('\0', " ").trim().to_owned())
}

/// The command line, as far as the system tells it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn command_line(pid: Pid) -> Option<String> {
    let output =
        std::process::Command::new("ps").args(["-o", "command=", "-p", &pid.to_string()]).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
