//! Schemathesis (from PyPI): asks a running api everything that its own document allows, and much that it does not, and holds
//! every answer against the document.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use tokio::process::Command;

use crate::python::python;

/// Schemathesis and all that it needs, pinned with hashes.
const REQUIREMENTS: &str = include_str!("schemathesis/requirements.txt");

/// Which answers to a request that is as the document says are right beyond the usual ones.
const CONFIGURATION: &str = include_str!("schemathesis/schemathesis.toml");

/// How long one run may take: several times what it takes on a busy machine.
const MINUTES_MAX: u64 = 10;

/// What came of it.
#[derive(Debug)]
pub struct Verdict {
    /// Every check of every answer passed.
    pub passed: bool,
    /// What it said.
    pub said: String,
}

/// What is asked, and as whom.
#[derive(Debug)]
pub struct Fuzzed<'a> {
    /// The key of whoever asks.
    pub key: &'a str,
    /// How many examples of each operation there are at least, where it takes anything.
    pub examples: u32,
    /// What the examples are drawn from.
    pub seed: u32,
    /// Real values of parameters in paths: every second example has one of them, the others are made up.
    pub known: &'a BTreeMap<&'static str, Vec<Value>>,
    /// The only key that is revoked, so that whoever asks keeps its own.
    pub sacrificed: &'a str,
}

impl Fuzzed<'_> {
    fn configuration(&self) -> String {
        let mut written = String::new();
        for (name, values) in self.known {
            // What a JSON text or number looks like, TOML's looks like, too.
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            let values = values.join(", ");
            let _infallible = writeln!(written, "[dictionaries.{name}]\nvalues = [{values}]\n");
        }
        written.push_str("[parameters]\n");
        for name in self.known.keys() {
            let _infallible =
                writeln!(written, "\"path.{name}\" = {{ dictionary = \"{name}\", probability = 0.5 }}");
        }
        let sacrificed = self.sacrificed;
        let _infallible = writeln!(
            written,
            "\n[[operations]]\ninclude-operation-id = \"revokeApiKey\"\nparameters = {{ \"path.api_key_id\" = \"{sacrificed}\" }}\n"
        );
        written.push_str(CONFIGURATION);
        written
    }
}

/// Runs all of its checks in all of its phases over every operation of the document at `/openapi.json`. `cache` is where
/// Python's packages are kept from run to run.
///
/// # Panics
/// Without Python, when a package cannot be installed, or when it has not ended within [`MINUTES_MAX`].
pub async fn schemathesis(base: &Url, fuzzed: &Fuzzed<'_>, cache: &Path) -> Verdict {
    let document = base.join("openapi.json").unwrap_or_else(|error| panic!("{base}: {error}"));
    let python = python(REQUIREMENTS, cache).await;
    let configuration = cache.join(format!("schemathesis-{}.toml", fuzzed.seed));
    std::fs::write(&configuration, fuzzed.configuration())
        .unwrap_or_else(|error| panic!("{}: {error}", configuration.display()));
    let Fuzzed { key, examples, seed, .. } = fuzzed;
    let run = Command::new(python.with_file_name("schemathesis"))
        .arg("--config-file")
        .arg(&configuration)
        .args(["run", document.as_str(), "--checks", "all", "--phases", "examples,coverage,fuzzing,stateful"])
        .args(["--max-examples", &examples.to_string(), "--seed", &seed.to_string(), "--continue-on-failure"])
        .args(["--header", &format!("Authorization: Bearer {key}"), "--warnings", "off"])
        .env("NO_PROXY", "*")
        .current_dir(cache)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(60 * MINUTES_MAX), run).await;
    let output =
        output.unwrap_or_else(|_elapsed| panic!("schemathesis has not ended in {MINUTES_MAX} minutes"));
    let output = output.unwrap_or_else(|error| panic!("cannot run schemathesis: {error}"));
    let said = [output.stdout, output.stderr].concat();
    Verdict { passed: output.status.success(), said: String::from_utf8_lossy(&said).into_owned() }
}
