//! Builds `waybill`, and keeps a copy for the clone.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use waybill_devstack::Undertaking;

use crate::console::Console;

/// `cargo`, the one that built this.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Takes the binary that `WAYBILL_BIN` names, or the one that `./dev` has just built, and copies it to `to`. Gives
/// whether the copy is another one than before.
pub(crate) fn provide(undertaking: &Undertaking, console: &Console, to: &Path) -> Result<bool> {
    if let Some(built) = env::var_os("WAYBILL_BIN") {
        return copy_if_changed(Path::new(&built), to);
    }
    let built = console.step("Build waybill", |_| {
        // The same two packages as in ./dev: nothing is built again for another set of features.
        let arguments = ["--quiet", "--package", "waybill", "--package", "xtask"];
        let [built] = executables(undertaking, &arguments, ["waybill"])?;
        Ok((built, String::new()))
    })?;
    copy_if_changed(&built, to)
}

/// Builds with these arguments, showing cargo's progress, and copies the binary to `to`.
pub(crate) fn build(
    undertaking: &Undertaking,
    console: &Console,
    arguments: &[&str],
    to: &Path,
) -> Result<bool> {
    let title = format!("cargo build {}", arguments.join(" "));
    let [built] = console.noisy_step(&title, || executables(undertaking, arguments, ["waybill"]))?;
    copy_if_changed(&built, to)
}

/// Builds with these arguments, showing cargo's progress, and gives where the binaries are.
pub(crate) fn build_both(
    undertaking: &Undertaking,
    console: &Console,
    arguments: &[&str],
    names: [&str; 2],
) -> Result<[PathBuf; 2]> {
    let title = format!("cargo build {}", arguments.join(" "));
    console.noisy_step(&title, || executables(undertaking, arguments, names))
}

/// Runs cargo build, and gives where it says that these binaries are.
fn executables<const N: usize>(
    undertaking: &Undertaking,
    arguments: &[&str],
    names: [&str; N],
) -> Result<[PathBuf; N]> {
    let mut command = cargo();
    command.args(["build", "--message-format", "json-render-diagnostics"]).args(arguments);
    let mut found = [const { None }; N];
    let status = undertaking.run_by_line(&mut command, "cargo", |line| {
        for (name, found) in names.iter().zip(&mut found) {
            *found = executable_of(line, name).or(found.take());
        }
    })?;
    if !status.success() {
        bail!("cargo build failed ({status})");
    }
    let found: Vec<PathBuf> = found.into_iter().flatten().collect();
    found.try_into().ok().context("cargo named no executable")
}

/// The path in cargo's message that the binary of that name is built, or is still fresh.
fn executable_of(line: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let target = &message["target"];
    let is_it = message["reason"] == "compiler-artifact" && target["name"] == *name;
    // The same target built as its own test is another executable.
    let is_it = is_it && target["kind"][0] == "bin" && message["profile"]["test"] == false;
    is_it.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
}

/// A copy has the time and the length of what it was copied from.
fn copy_if_changed(from: &Path, to: &Path) -> Result<bool> {
    let source = fs::metadata(from).with_context(|| format!("no {}", from.display()))?;
    let modified = source.modified()?;
    let is_same = fs::metadata(to)
        .is_ok_and(|copy| copy.len() == source.len() && copy.modified().ok() == Some(modified));
    if is_same {
        return Ok(false);
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    // Beside it first: a running process keeps the file that it was started from.
    let partial = to.with_extension("partial");
    fs::copy(from, &partial).with_context(|| format!("cannot copy {}", from.display()))?;
    File::options().write(true).open(&partial)?.set_modified(modified)?;
    fs::rename(&partial, to)?;
    Ok(true)
}
