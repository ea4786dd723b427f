//! The peer: Debezium's connector for Postgres with its outbox event router, in Kafka Connect, tuned.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use tokio_postgres::{Client, Config};
use waybill_devstack::{ServiceFile, Undertaking, find_java};

use crate::rest::Connector;
use crate::stack::{Stack, jars};

/// How it is tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tuning {
    /// What the goals were set beside: codec, linger and batches of the producer, batches and queue of the connector.
    Listed,
    /// That, and what else was found to help: nothing waits for a batch to fill, and five requests are on the way.
    Further,
}

impl Tuning {
    pub(crate) const ALL: [Self; 2] = [Self::Listed, Self::Further];

    /// What the figures call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Listed => "Debezium 3.6.1",
            Self::Further => "Debezium 3.6.1, tuned further",
        }
    }

    /// In the name of a topic.
    pub(crate) const fn slug(self) -> &'static str {
        match self {
            Self::Listed => "debezium",
            Self::Further => "debezium-further",
        }
    }

    const fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Listed => &[],
            Self::Further => &[
                ("poll.interval.ms", "5"),
                ("producer.override.enable.idempotence", "true"),
                ("producer.override.max.in.flight.requests.per.connection", "5"),
            ],
        }
    }
}

/// A database of its own: decoding skips the transactions of another one.
pub(crate) const DATABASE: &str = "peer";

/// The connector, its slot and its publication.
const CONNECTOR: &str = "bench";

/// The table as Debezium's documentation lays it out, with one column for each header beside `id`.
const INSTALL: [&str; 3] = [
    "CREATE TABLE outbox (
        id text PRIMARY KEY,
        aggregatetype text NOT NULL,
        aggregateid text NOT NULL,
        type text NOT NULL,
        ce_source text NOT NULL,
        ce_specversion text NOT NULL,
        payload bytea
    )",
    "CREATE PUBLICATION bench FOR TABLE outbox WITH (publish = 'insert')",
    "SELECT pg_create_logical_replication_slot('bench', 'pgoutput')",
];

/// A heap as large as its queue of 32,768 records ever needs.
const JAVA_OPTIONS: [&str; 5] = [
    "-Xms1g",
    "-Xmx1g",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.showThreadName=false",
];

/// Debezium in Connect, running or stopped.
#[derive(Debug)]
pub(crate) struct Debezium {
    connector: Connector,
    settings: BTreeMap<&'static str, String>,
    pub(crate) pid: i32,
    service: ServiceFile,
}

impl Debezium {
    /// Makes its table and slot, starts it, and stops its task once that runs.
    pub(crate) async fn install(stack: &Stack, undertaking: &Undertaking, db: &Client) -> Result<Self> {
        let jars = jars(undertaking, "debezium", &stack.repository("ops/bench/debezium/pom.xml"))?;
        for statement in INSTALL {
            db.batch_execute(statement).await.context("the peer's table and slot cannot be made")?;
        }
        let port = stack.port("connect")?;
        let worker = write(stack, "connect.properties", &worker(stack, port))?;
        let settings = connector(stack)?;
        let properties: Vec<String> =
            settings.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        let connector = write(stack, "debezium.properties", &properties.concat())?;
        let mut command = Command::new(find_java());
        command.args(JAVA_OPTIONS).args(["-cp", &jars.class_path()]);
        command.arg("org.apache.kafka.connect.cli.ConnectStandalone").arg(worker).arg(connector);
        let service = stack.service("connect");
        let running = undertaking.start(&mut command, &service, Signal::SIGTERM)?;
        let debezium =
            Self { connector: Connector::at(port, CONNECTOR), settings, pid: running.pid, service };
        debezium.said(debezium.connector.reach("RUNNING", 1).await)?;
        debezium.pause().await?;
        Ok(debezium)
    }

    /// Has its task run, tuned like that, and does not wait for it.
    pub(crate) async fn resume(&self, tuning: Tuning) -> Result<()> {
        let mut settings = self.settings.clone();
        settings.extend(tuning.settings().iter().map(|(name, value)| (*name, (*value).to_owned())));
        self.said(self.connector.configure(&settings).await)?;
        self.said(self.connector.resume().await)
    }

    /// Ends its task. The process stays, and what Java has compiled so far.
    pub(crate) async fn pause(&self) -> Result<()> {
        self.said(self.connector.stop().await)
    }

    /// Whether its task still runs.
    pub(crate) async fn check(&self) -> Result<()> {
        self.said(self.connector.reach("RUNNING", 1).await)
    }

    /// With the end of its log, if it failed.
    fn said<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.with_context(|| format!("the end of Connect's log:\n{}", self.service.tail(15)))
    }
}

fn write(stack: &Stack, name: &str, text: &str) -> Result<std::path::PathBuf> {
    let path = stack.dir().join(name);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// The producer as tuned as the relay's: lz4, linger 5 ms, batches of 262,144 B. Nothing is parsed on the way.
fn worker(stack: &Stack, port: u16) -> String {
    format!(
        "\
bootstrap.servers={}
listeners=http://127.0.0.1:{port}
plugin.discovery=service_load
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.converters.ByteArrayConverter
header.converter=org.apache.kafka.connect.storage.StringConverter
offset.storage.file.filename={}
offset.flush.interval.ms=5000
producer.acks=all
producer.compression.type=lz4
producer.linger.ms=5
producer.batch.size=262144
",
        stack.bootstrap(),
        stack.dir().join("connect.offsets").display()
    )
}

/// The connector and its event router: every row from the slot, batches and queue as large as pays off.
fn connector(stack: &Stack) -> Result<BTreeMap<&'static str, String>> {
    let url: Config = stack.database_url(DATABASE).parse()?;
    let password = std::str::from_utf8(url.get_password().unwrap_or_default())?.to_owned();
    let port = url.get_ports().first().context("no port")?.to_string();
    let user = url.get_user().context("no user")?.to_owned();
    let fixed = [
        ("name", CONNECTOR),
        ("connector.class", "io.debezium.connector.postgresql.PostgresConnector"),
        ("tasks.max", "1"),
        ("plugin.name", "pgoutput"),
        ("database.hostname", "127.0.0.1"),
        ("database.dbname", DATABASE),
        ("topic.prefix", DATABASE),
        ("slot.name", CONNECTOR),
        ("publication.name", CONNECTOR),
        ("publication.autocreate.mode", "disabled"),
        ("table.include.list", "public.outbox"),
        ("snapshot.mode", "no_data"),
        ("tombstones.on.delete", "false"),
        ("max.batch.size", "8192"),
        ("max.queue.size", "32768"),
        ("transforms", "outbox"),
        ("transforms.outbox.type", "io.debezium.transforms.outbox.EventRouter"),
        ("transforms.outbox.route.topic.replacement", "${routedByValue}"),
        (
            "transforms.outbox.table.fields.additional.placement",
            "type:header:ce_type,ce_source:header,ce_specversion:header",
        ),
    ];
    let own = [("database.port", port), ("database.user", user), ("database.password", password)];
    Ok(fixed.map(|(name, value)| (name, value.to_owned())).into_iter().chain(own).collect())
}
