//! A Kafka broker of one's own, for a test that freezes or kills it.

use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use uuid::Uuid;
use waybill_devstack::{Kafka, Layout, Ports, Undertaking, fetch};

use crate::bounded::eventually;

/// A broker that no other test uses. Stopped and removed when this goes out of scope.
pub struct PrivateBroker {
    folder: PathBuf,
    undertaking: Undertaking,
    kafka: Kafka,
}

impl PrivateBroker {
    /// Starts one and waits until it answers.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("waybill-broker-{}", Uuid::new_v4().simple()));
        std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let undertaking = Undertaking::default();
        let pom = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ops/dev/kafka/pom.xml");
        let (jars, _) = fetch(&undertaking, "kafka", &pom).unwrap_or_else(|error| panic!("{error}"));
        let layout = Layout::of_clone(&folder).unwrap_or_else(|error| panic!("{error}"));
        let mut ports = Ports::load(&layout).unwrap_or_else(|error| panic!("{error}"));
        let kafka = Kafka::of(&layout, &mut ports, jars).unwrap_or_else(|error| panic!("{error}"));
        let broker = Self { folder, undertaking, kafka };
        broker.run();
        broker
    }

    /// Starts it again after a [`PrivateBroker::kill`], on the same log.
    ///
    /// # Panics
    /// When it does not start.
    pub fn run(&self) {
        self.kafka.start(&self.undertaking).unwrap_or_else(|error| panic!("{error}"));
        self.kafka.wait_ready().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Where it answers, as `bootstrap.servers` wants it.
    #[must_use]
    pub fn bootstrap(&self) -> String {
        self.kafka.bootstrap().to_string()
    }

    /// Sends SIGKILL and waits until it is gone.
    ///
    /// # Panics
    /// When it does not run.
    pub async fn kill(&self) {
        self.signal(Signal::SIGKILL);
        let service = self.kafka.service();
        eventually("the broker is gone", async || service.running().is_none().then_some(())).await;
    }

    /// Sends SIGSTOP: its connections stay open, and nothing answers on them any more.
    ///
    /// # Panics
    /// When it does not run.
    pub fn freeze(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// Lets a frozen one go on.
    ///
    /// # Panics
    /// When it does not run.
    pub fn thaw(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        let running = self.kafka.service().running().unwrap_or_else(|| panic!("the broker does not run"));
        kill(Pid::from_raw(running.pid), signal).unwrap_or_else(|error| panic!("{signal}: {error}"));
    }
}

impl Drop for PrivateBroker {
    fn drop(&mut self) {
        if let Some(running) = self.kafka.service().running() {
            // A frozen process would not hear that it is to end.
            let _ = kill(Pid::from_raw(running.pid), Signal::SIGCONT);
        }
        let _ = self.kafka.service().stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
