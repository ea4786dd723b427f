//! Somebody else's readers, in a Python of their own that is made once for each state of its requirements.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::process::Command;
use waybill_testkit::python;

/// The rows of a file, each value as a text or NULL.
pub(crate) type Rows = Vec<Vec<Option<String>>>;

const REQUIREMENTS: &str = include_str!("readers/requirements.txt");

/// What the reader finds in the file. `leaves` says what it cannot tell from the values.
pub(crate) async fn read(reader: &str, file: &Path, leaves: &Value) -> Rows {
    let mut command = Command::new(python(REQUIREMENTS, Path::new(env!("CARGO_TARGET_TMPDIR"))).await);
    command.arg(folder().join("read.py")).arg(reader).arg(file).arg(leaves.to_string());
    let output = command.output().await.expect("Python starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reader} cannot read {}: {complaint}", file.display());
    let lines = std::str::from_utf8(&output.stdout).expect("JSON is UTF-8").lines();
    lines.map(|line| serde_json::from_str(line).expect("a row")).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/round_trip/readers")
}
