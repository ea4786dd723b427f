//! Somebody else's readers, in a Python of their own that is made once for each state of its requirements.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::process::Command;
use tokio::sync::OnceCell;

/// The rows of a file, each value as a text or NULL.
pub(crate) type Rows = Vec<Vec<Option<String>>>;

static PYTHON: OnceCell<PathBuf> = OnceCell::const_new();

/// What the reader finds in the file. `leaves` says what it cannot tell from the values.
pub(crate) async fn read(reader: &str, file: &Path, leaves: &Value) -> Rows {
    let python = PYTHON.get_or_init(python).await;
    let mut command = Command::new(python);
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

/// Complete only once a file beside it says so: what an interrupted install leaves is made again.
async fn python() -> PathBuf {
    let requirements = folder().join("requirements.txt");
    let wanted = std::fs::read(&requirements).expect("the requirements");
    let digest = Sha256::digest(&wanted).iter().take(8).fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    });
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (environment, complete) =
        (place.join(format!("readers-{digest}")), place.join(format!("readers-{digest}.complete")));
    let python = environment.join("bin/python");
    if complete.is_file() {
        return python;
    }
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear"]).arg(&environment);
    succeeds("python3 -m venv (`./dev` installs it)", &mut make).await;
    let mut install = Command::new(&python);
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--require-hashes",
        "--no-deps",
        "--only-binary=:all:",
        "-r",
    ]);
    succeeds("pip install", install.arg(&requirements)).await;
    std::fs::write(&complete, "").expect("written");
    python
}

async fn succeeds(what: &str, command: &mut Command) {
    let output = command.output().await.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
}
