//! Where the programs are that the stack does not bring.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::DevstackError;

/// The oldest PostgreSQL that Waybill runs on.
const POSTGRES_MAJOR_MIN: u32 = 15;

/// Where packages put PostgreSQL's server programs: Debian's, Homebrew's two.
const POSTGRES_FOLDERS: [&str; 4] =
    ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt", "/usr/pgsql"];

/// The folder of PostgreSQL's server programs: of that major version, or the newest one.
///
/// # Errors
/// When none is installed.
pub fn find_postgres(major: Option<u32>) -> Result<PathBuf, DevstackError> {
    let on_path = env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<(u32, PathBuf)> = env::split_paths(&on_path)
        .chain(POSTGRES_FOLDERS.iter().flat_map(|root| packaged(Path::new(root))))
        .filter_map(|bin| behind_links(&bin))
        .filter_map(|bin| Some((major_of(&bin)?, bin)))
        .filter(|(version, _)| major.map_or(*version >= POSTGRES_MAJOR_MIN, |wanted| *version == wanted))
        .collect();
    found.sort();
    found.pop().map(|(_, bin)| bin).ok_or(DevstackError::Missing {
        program: "PostgreSQL's server",
        remedy: "install PostgreSQL 15 or later (the version whose data is in .dev, if there is any), or `./dev reset`",
    })
}

/// The folder that the programs really lie in: somebody may have linked one of them to a folder on the path.
fn behind_links(bin: &Path) -> Option<PathBuf> {
    Some(bin.join("initdb").canonicalize().ok()?.parent()?.to_owned())
}

/// `<root>/15/bin` as Debian has it, `<root>/postgresql@15/bin` as Homebrew has it.
fn packaged(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries.map(|entry| entry.path().join("bin")).filter(|bin| bin.join("initdb").is_file()).collect()
}

/// From `initdb (PostgreSQL) 15.18 …`.
fn major_of(bin: &Path) -> Option<u32> {
    let needed = ["initdb", "postgres", "pg_isready", "psql"];
    if !needed.iter().all(|program| bin.join(program).is_file()) {
        return None;
    }
    let output = std::process::Command::new(bin.join("initdb")).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version =
        text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    version.split(|other: char| !other.is_ascii_digit()).next()?.parse().ok()
}

/// The `java` to run Kafka with: `JAVA_HOME`'s, Homebrew's, or the one on the path.
#[must_use]
pub fn find_java() -> PathBuf {
    let home = env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin/java"));
    let brewed =
        ["/opt/homebrew/opt/openjdk@17/bin/java", "/usr/local/opt/openjdk@17/bin/java"].map(PathBuf::from);
    home.into_iter().chain(brewed).find(|java| java.is_file()).unwrap_or_else(|| on_path("java"))
}

/// The whole path, so that a process's command line is known beforehand.
fn on_path(program: &str) -> PathBuf {
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).map(|dir| dir.join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| program.into())
}
