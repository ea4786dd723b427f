//! How much memory a service takes, its children included.

use nix::unistd::Pid;

/// Mebibytes of the process and its children. On Linux the proportional share, so that what Postgres' processes
/// share counts once.
#[cfg(target_os = "linux")]
pub(crate) fn mebibytes(pid: Pid) -> Option<u64> {
    let mut kibibytes = share(pid)?;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if parent(child) == Some(pid) {
            kibibytes += share(Pid::from_raw(child)).unwrap_or(0);
        }
    }
    Some(kibibytes / 1024)
}

#[cfg(target_os = "linux")]
fn share(pid: Pid) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(target_os = "linux")]
fn parent(pid: i32) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().map(Pid::from_raw)
}

/// Mebibytes of the process alone: macOS tells no shares.
#[cfg(not(target_os = "linux"))]
pub(crate) fn mebibytes(pid: Pid) -> Option<u64> {
    let output =
        std::process::Command::new("ps").args(["-o", "rss=", "-p", &pid.to_string()]).output().ok()?;
    let kibibytes: u64 = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    Some(kibibytes / 1024)
}
