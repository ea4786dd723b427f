//! How much processor time and memory a process has taken. Only Linux tells by `/proc`.

use std::fs;
use std::time::Duration;

/// What `/proc` counts processor time in: a hundredth of a second on every Linux that Rust runs on.
const TICKS_PER_SECOND: u64 = 100;

/// Whose processor time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// The process alone.
    Process(i32),
    /// The children that the process has waited for, without itself.
    Ended(i32),
    /// The process, its living children and those that it has waited for.
    Family(i32),
}

/// The processor time that was taken so far.
pub(crate) fn time(of: Of) -> Duration {
    let ticks = match of {
        Of::Process(pid) => ticks(pid, 2).unwrap_or(0),
        Of::Ended(pid) => ticks(pid, 4).unwrap_or(0).saturating_sub(ticks(pid, 2).unwrap_or(0)),
        Of::Family(pid) => {
            let children = children(pid).into_iter().filter_map(|child| ticks(child, 4));
            ticks(pid, 4).unwrap_or(0) + children.sum::<u64>()
        }
    };
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// The most memory in bytes that the process ever had resident.
pub(crate) fn peak_resident_bytes(pid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Field 14 of `/proc/<pid>/stat` and those after it, counted behind the command's closing bracket: two are the
/// process's own, two more are those of the children that it has waited for.
fn ticks(pid: i32, fields: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().skip(11).take(fields).filter_map(|field| field.parse::<u64>().ok()).sum())
}

fn children(pid: i32) -> Vec<i32> {
    let parent = |child: i32| -> Option<i32> {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter(|&process| parent(process) == Some(pid)).collect()
}
