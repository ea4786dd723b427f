//! A Postgres and a Kafka for one run, as durable as in production, and nothing of them afterwards.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use waybill_devstack::{
    Credentials, Durability, Jars, Kafka, Layout, Ports, Postgres, ServiceFile, Undertaking, fetch,
};

use crate::progress::Progress;

/// A stack of its own, so that a bench never meets a person's data.
const STACK: &str = "bench";

/// What a run starts, in the order in which it is stopped.
const SERVICES: [&str; 10] =
    ["worker", "api", "search", "stats", "notifier", "reconciler", "relay", "connect", "kafka", "postgres"];

/// Debezium reads by logical decoding, so everybody writes its log. No vacuum of one side's rows may fall into the other
/// side's measurement; a laptop's log size would let checkpoints do so.
const SETTINGS: [&str; 4] =
    ["wal_level=logical", "autovacuum=off", "max_wal_size=8GB", "checkpoint_timeout=1h"];

/// What is up.
#[derive(Debug)]
pub(crate) struct Stack {
    layout: Layout,
    postgres: Postgres,
    kafka: Kafka,
    _lock: File,
}

impl Stack {
    /// Removes what an earlier run left that was killed before it could, and starts anew.
    pub(crate) fn start(root: &Path, undertaking: &Undertaking, progress: &Progress) -> Result<Self> {
        let outer = Layout::of_clone(root)?;
        // Beside the stack's folder, which goes with the run.
        let lock = outer.lock_named(STACK)?;
        let left_behind = Layout::private(root, STACK)?;
        clear(&left_behind)?;
        let layout = Layout::private(root, STACK)?;
        undertaking.remove_when_interrupted(layout.dir());
        let begun = Self::begin(layout.clone(), lock, undertaking, progress);
        if begun.is_err() {
            // What fails because it is being taken back is not to be cleared by two at once.
            undertaking.give_way_to_interrupt();
            clear(&layout)?;
        }
        begun
    }

    fn begin(layout: Layout, lock: File, undertaking: &Undertaking, progress: &Progress) -> Result<Self> {
        progress.say("Starting Kafka and Postgres");
        let jars = jars(undertaking, "kafka", &layout.clone_root().join("ops/dev/kafka/pom.xml"))?;
        let mut ports = Ports::load(&layout)?;
        let mut credentials = Credentials::load(&layout)?;
        let kafka = Kafka::of(&layout, &mut ports, jars)?.under_load();
        let postgres = Postgres::of(&layout, &mut ports, &mut credentials, Durability::Durable)?;
        let postgres = SETTINGS.iter().fold(postgres.temporary(), |postgres, set| postgres.with_setting(set));
        kafka.start(undertaking)?;
        postgres.start(undertaking)?;
        postgres.wait_ready()?;
        kafka.wait_ready()?;
        Ok(Self { layout, postgres, kafka, _lock: lock })
    }

    /// The administrator's URL of the database.
    pub(crate) fn database_url(&self, database: &str) -> String {
        self.postgres.admin_url(database)
    }

    pub(crate) fn bootstrap(&self) -> String {
        self.kafka.bootstrap()
    }

    /// A free port for something that is about to listen.
    pub(crate) fn port(&self, name: &str) -> Result<u16> {
        Ok(Ports::load(&self.layout)?.take(name)?)
    }

    /// The port of something that listens.
    pub(crate) fn known_port(&self, name: &str) -> Result<u16> {
        Ports::load(&self.layout)?.get(name).with_context(|| format!("{name} has no port"))
    }

    /// Where the files of exports lie.
    pub(crate) fn objects(&self) -> PathBuf {
        self.dir().join("objects")
    }

    /// `psql` as the administrator on the database.
    pub(crate) fn psql(&self, database: &str) -> Result<Command> {
        Ok(self.postgres.psql(database)?)
    }

    /// One of [`SERVICES`].
    pub(crate) fn service(&self, name: &str) -> ServiceFile {
        ServiceFile::of(&self.layout, name)
    }

    /// Where files of this run lie.
    pub(crate) fn dir(&self) -> &Path {
        self.layout.dir()
    }

    /// A file of the repository.
    pub(crate) fn repository(&self, path: &str) -> PathBuf {
        self.layout.clone_root().join(path)
    }

    /// Stops all of it and removes its data.
    pub(crate) fn end(self, undertaking: &Undertaking, progress: &Progress) -> Result<()> {
        undertaking.give_way_to_interrupt();
        progress.say("Stopping, and removing what was made");
        clear(&self.layout)
    }
}

/// The jars of a POM, from the cache or from Maven.
pub(crate) fn jars(undertaking: &Undertaking, name: &str, pom: &Path) -> Result<Jars> {
    let (jars, _) = fetch(undertaking, name, pom).with_context(|| format!("cannot fetch {name}"))?;
    Ok(jars)
}

fn clear(layout: &Layout) -> Result<()> {
    for name in SERVICES {
        ServiceFile::of(layout, name).stop()?;
    }
    let mut ports = Ports::load(layout)?;
    let mut credentials = Credentials::load(layout)?;
    Postgres::of(layout, &mut ports, &mut credentials, Durability::Durable)?.remove()?;
    let dir = layout.dir();
    fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))
}
