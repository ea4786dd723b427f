//! Schemathesis (from PyPI): asks a running api everything that its own document allows, and much that it does not, and holds
//! every answer against the document.

use std::path::Path;
use std::process::Stdio;

use reqwest::Url;
use tokio::process::Command;

use crate::python::python;

/// Schemathesis and all that it needs, pinned with hashes.
const REQUIREMENTS: &str = include_str!("schemathesis/requirements.txt");

/// Which answers to a request that is as the document says are right beyond the usual ones.
const CONFIGURATION: &str = include_str!("schemathesis/schemathesis.toml");

/// What came of it.
#[derive(Debug)]
pub struct Verdict {
    /// Every check of every answer passed.
    pub passed: bool,
    /// What it said.
    pub said: String,
}

/// Runs all of its checks in all of its phases over every operation of the document at `/openapi.json`, as the holder of this
/// key, with so many examples an operation. `cache` is where Python's packages are kept from run to run.
///
/// # Panics
/// Without Python, or when a package cannot be installed.
pub async fn schemathesis(base: &Url, key: &str, examples: u32, seed: u32, cache: &Path) -> Verdict {
    let document = base.join("openapi.json").unwrap_or_else(|error| panic!("{base}: {error}"));
    let python = python(REQUIREMENTS, cache).await;
    let configuration = cache.join("schemathesis.toml");
    std::fs::write(&configuration, CONFIGURATION)
        .unwrap_or_else(|error| panic!("{}: {error}", configuration.display()));
    let output = Command::new(python.with_file_name("schemathesis"))
        .arg("--config-file")
        .arg(&configuration)
        .args(["run", document.as_str(), "--checks", "all", "--phases", "examples,coverage,fuzzing,stateful"])
        .args(["--max-examples", &examples.to_string(), "--seed", &seed.to_string(), "--continue-on-failure"])
        .args(["--header", &format!("Authorization: Bearer {key}"), "--warnings", "off"])
        .env("NO_PROXY", "*")
        .current_dir(cache)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let output = output.unwrap_or_else(|error| panic!("cannot run schemathesis: {error}"));
    let said = [output.stdout, output.stderr].concat();
    Verdict { passed: output.status.success(), said: String::from_utf8_lossy(&said).into_owned() }
}
