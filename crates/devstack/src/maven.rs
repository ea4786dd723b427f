//! Jars by Maven, fetched once for each state of a POM, whole or not at all.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::cache_dir;
use crate::error::{DevstackError, OnPath};
use crate::layout::hex_of;
use crate::undertaking::Undertaking;

/// A folder that holds every jar of a POM.
#[derive(Clone, Debug)]
pub struct Jars {
    dir: PathBuf,
}

impl Jars {
    /// A class path of all of them, for `java -cp`.
    #[must_use]
    pub fn class_path(&self) -> String {
        format!("{}/*", self.dir.display())
    }
}

/// Copies the jars that `pom` names into the shared cache, unless they are there. `name` is the folder's, before the
/// POM's hash. Gives them and whether they had to be fetched.
///
/// # Errors
/// When Maven is missing or fails, which it does when it has no network.
pub fn fetch(undertaking: &Undertaking, name: &str, pom: &Path) -> Result<(Jars, bool), DevstackError> {
    let content = fs::read(pom).on("read", pom)?;
    let cache = cache_dir();
    fs::create_dir_all(&cache).on("make", &cache)?;
    let dir = cache.join(format!("{name}-{}", hex_of(&content)));
    if dir.is_dir() {
        return Ok((Jars { dir }, false));
    }
    // Two clones may want it at once: the second waits here and then finds it.
    let lock_path = cache.join(format!("{name}.lock"));
    let lock = File::options().create(true).append(true).open(&lock_path).on("open", &lock_path)?;
    lock.lock().on("lock", &lock_path)?;
    if !dir.is_dir() {
        copy_dependencies(undertaking, pom, &dir)?;
    }
    Ok((Jars { dir }, true))
}

/// Into another folder first, which is renamed when it is complete. The lock is held, so its name is free to reuse.
fn copy_dependencies(undertaking: &Undertaking, pom: &Path, dir: &Path) -> Result<(), DevstackError> {
    let partial = dir.with_extension("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial).on("remove", &partial)?;
    }
    undertaking.remove_when_interrupted(&partial);
    let mut maven = Command::new("mvn");
    maven
        .args(["--batch-mode", "--no-transfer-progress", "--quiet", "-Dstyle.color=never", "--file"])
        .arg(pom);
    maven.args(["dependency:copy-dependencies", "-DincludeScope=runtime"]);
    maven.arg(format!("-DoutputDirectory={}", partial.display()));
    undertaking.run(&mut maven, "mvn", "install Maven, for example `apt-get install maven`")?;
    fs::rename(&partial, dir).on("complete", dir)
}
