//! Where the test stack is. It is said by `./dev test`, never guessed.

use std::env;
use std::path::{Path, PathBuf};

/// The admin's URL of the Postgres that tests may make databases in.
///
/// # Panics
/// When `WAYBILL_TEST_POSTGRES_URL` is not set: a test never skips itself.
#[must_use]
pub fn postgres_url() -> String {
    required("WAYBILL_TEST_POSTGRES_URL")
}

/// `host:port` of the Kafka that tests may make topics in.
///
/// # Panics
/// When `WAYBILL_TEST_KAFKA_BOOTSTRAP` is not set: a test never skips itself.
#[must_use]
pub fn kafka_bootstrap() -> String {
    required("WAYBILL_TEST_KAFKA_BOOTSTRAP")
}

/// The `waybill` binary under test: `WAYBILL_BIN`, or the one beside the running test's own folder.
///
/// # Panics
/// When there is none: it has to be built first, with its fault points.
#[must_use]
pub fn waybill_binary() -> PathBuf {
    let path = env::var_os("WAYBILL_BIN").map_or_else(built_beside_the_test, PathBuf::from);
    assert!(
        path.is_file(),
        "no waybill binary at {}: run `./dev test`, or `cargo build -p waybill --features fault-points`",
        path.display()
    );
    path
}

/// What the databases of this run carry in their names, so that whoever started it can find what it left.
pub(crate) fn scope() -> String {
    env::var("WAYBILL_TEST_SCOPE").unwrap_or_else(|_| "local".to_owned())
}

/// A test's own binary lies in `<target>/debug/deps`, the product's in `<target>/debug`.
fn built_beside_the_test() -> PathBuf {
    let test = env::current_exe().unwrap_or_default();
    let profile = test.parent().and_then(Path::parent).unwrap_or(Path::new("target/debug"));
    profile.join("waybill")
}

fn required(name: &str) -> String {
    match env::var(name) {
        Ok(value) if !value.is_empty() => value,
        Ok(_) | Err(_) => panic!(
            "{name} is not set: these tests need a real Postgres and a real Kafka. Run `./dev test`, or \
             `./dev test --filter NAME` for one of them."
        ),
    }
}
