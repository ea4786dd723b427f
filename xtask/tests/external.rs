//! `./dev demo` on servers that somebody else runs.
#![expect(clippy::unwrap_used, reason = "what fails in a fixture fails the test, where it stands")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use waybill_devstack::{Credentials, Durability, Layout, Ports, Postgres, ServiceFile, Undertaking};
use waybill_testkit::{connect, eventually, kafka_bootstrap, waybill_binary};

/// A folder that stands for a clone, with a Postgres beside it that is nobody's but the test's: logins belong to a whole
/// server, and those of the other tests must keep their passwords.
struct Stage {
    root: PathBuf,
    postgres: Postgres,
    undertaking: Undertaking,
}

impl Stage {
    fn set() -> Self {
        let root = std::env::temp_dir().join(format!("waybill-clone-{}", uuid::Uuid::new_v4().simple()));
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for file in ["kafka/pom.xml", "mail/pom.xml", "datasets/orders.toml"] {
            let (from, to) = (sources.join("ops/dev").join(file), root.join("clone/ops/dev").join(file));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from, to).unwrap();
        }
        let server = root.join("server");
        fs::create_dir_all(&server).unwrap();
        let layout = Layout::of_clone(&server).unwrap();
        let (mut ports, mut credentials) =
            (Ports::load(&layout).unwrap(), Credentials::load(&layout).unwrap());
        let postgres = Postgres::of(&layout, &mut ports, &mut credentials, Durability::Volatile).unwrap();
        let undertaking = Undertaking::default();
        postgres.start(&undertaking).unwrap();
        postgres.wait_ready().unwrap();
        Self { root, postgres, undertaking }
    }

    fn clone_dir(&self) -> PathBuf {
        self.root.join("clone")
    }

    fn dev(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(arguments).current_dir(self.clone_dir()).env("WAYBILL_BIN", waybill_binary());
        command.env("WAYBILL_POSTGRES_URL", self.postgres.admin_url("postgres"));
        command.env("WAYBILL_KAFKA_BOOTSTRAP", kafka_bootstrap());
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let output = self.dev(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "./dev {}: {}\n{errors}", arguments.join(" "), output.status);
        output
    }

    fn running(&self) -> Vec<&'static str> {
        let layout = Layout::of_clone(&self.clone_dir()).unwrap();
        let services = ["kafka", "mail", "postgres", "waybill"];
        services.into_iter().filter(|name| ServiceFile::of(&layout, name).running().is_some()).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.dev(&["reset", "--yes"]).output();
        self.undertaking.take_back();
        let _ = self.postgres.remove();
        let _ = fs::remove_dir_all(&self.root);
    }
}

#[tokio::test]
async fn the_demo_runs_on_named_servers_twice_and_reset_leaves_nothing_on_them() {
    let stage = Stage::set();
    let first = demo(&stage);
    assert_eq!(stage.running(), ["mail", "waybill"], "no server is started but those that were not named");
    let second = demo(&stage);
    assert_ne!(first["export_id"], second["export_id"], "each run is a new intent");
    assert_eq!(first["result"]["sha256"], second["result"]["sha256"], "of the same orders");
    assert_eq!(second["counters"]["succeeded"], 2);

    stage.run(&["reset", "--yes"]);
    assert!(!stage.clone_dir().join(".dev").exists());
    let admin = connect(&stage.postgres.admin_url("postgres")).await;
    let left =
        admin.query("SELECT datname FROM pg_database WHERE datname LIKE 'waybill%'", &[]).await.unwrap();
    assert!(left.is_empty(), "{} databases are left", left.len());
}

#[tokio::test]
async fn an_interrupted_up_takes_back_what_it_started() {
    let stage = Stage::set();
    let mut up = stage.dev(&["up"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the mail sink's start", async || (stage.running() == ["mail"]).then_some(())).await;
    let ended = interrupt(&mut up);
    assert_eq!(ended.code(), Some(130));
    assert!(stage.running().is_empty(), "{:?} still runs", stage.running());
}

fn demo(stage: &Stage) -> serde_json::Value {
    let output = stage.run(&["demo", "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn interrupt(child: &mut Child) -> std::process::ExitStatus {
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    child.wait().unwrap()
}
