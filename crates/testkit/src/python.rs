//! A Python with packages of a pinned list, made once for each state of the list and kept beside the build.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio::process::Command;

/// The interpreter of an environment that holds what `requirements` lists, with hashes; made in `cache` unless it is there.
///
/// # Panics
/// Without Python, or when a package cannot be installed.
pub async fn python(requirements: &str, cache: &Path) -> PathBuf {
    let digest: String =
        Sha256::digest(requirements).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let environment = cache.join(format!("python-{digest}"));
    let (python, complete) = (environment.join("bin/python"), environment.join("complete"));
    // One at a time, of however many test processes.
    let lock = std::fs::File::create(cache.join(format!("python-{digest}.lock")));
    let lock = lock.unwrap_or_else(|error| panic!("{}: {error}", cache.display()));
    let locked = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await;
    let _locked = locked.unwrap_or_else(|error| panic!("{error}")).unwrap_or_else(|error| panic!("{error}"));
    if complete.is_file() {
        return python;
    }
    let list = cache.join(format!("python-{digest}.txt"));
    std::fs::write(&list, requirements).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment)).await;
    let install =
        ["-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--only-binary=:all:", "-r"];
    succeeds(Command::new(&python).args(install).arg(&list)).await;
    std::fs::write(&complete, "").unwrap_or_else(|error| panic!("{}: {error}", complete.display()));
    python
}

async fn succeeds(command: &mut Command) {
    let output =
        command.output().await.unwrap_or_else(|error| panic!("{command:?} (`./dev` installs it): {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
