//! The peer: Debezium's connector for Postgres with its outbox event router, in Kafka Connect, tuned.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use tokio_postgres::{Client, Config};
use waybill_devstack::{ServiceFile, Undertaking, find_java};

use crate::rest::Connector;
use crate::stack::{Stack, jars};

/// What the figures call it.
pub(crate) const NAME: &str = "Debezium 3.6.1";

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
        let connector = write(stack, "debezium.properties", &connector(stack)?)?;
        let mut command = Command::new(find_java());
        command.args(JAVA_OPTIONS).args(["-cp", &jars.class_path()]);
        command.arg("org.apache.kafka.connect.cli.ConnectStandalone").arg(worker).arg(connector);
        let service = stack.service("connect");
        let running = undertaking.start(&mut command, &service, Signal::SIGTERM)?;
        let debezium = Self { connector: Connector::at(port, CONNECTOR), pid: running.pid, service };
        debezium.said(debezium.connector.reach("RUNNING", 1).await)?;
        debezium.pause().await?;
        Ok(debezium)
    }

    /// Has its task run, and does not wait for that.
    pub(crate) async fn resume(&self) -> Result<()> {
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

/// The producer as tuned as the relay's: lz4, linger 5 ms, batches of 262,144 B, and five requests on the way.
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
producer.enable.idempotence=true
producer.max.in.flight.requests.per.connection=5
producer.compression.type=lz4
producer.linger.ms=5
producer.batch.size=262144
",
        stack.bootstrap(),
        stack.dir().join("connect.offsets").display()
    )
}

/// Batches and queue as large as pays off, and a poll interval that does not hold a batch back for long.
fn connector(stack: &Stack) -> Result<String> {
    let url: Config = stack.database_url(DATABASE).parse()?;
    let password = url.get_password().unwrap_or_default();
    let (port, user) = (url.get_ports().first().copied(), url.get_user());
    Ok(format!(
        "\
name={CONNECTOR}
connector.class=io.debezium.connector.postgresql.PostgresConnector
tasks.max=1
plugin.name=pgoutput
database.hostname=127.0.0.1
database.port={}
database.user={}
database.password={}
database.dbname={DATABASE}
topic.prefix={DATABASE}
slot.name={CONNECTOR}
publication.name={CONNECTOR}
publication.autocreate.mode=disabled
table.include.list=public.outbox
snapshot.mode=no_data
tombstones.on.delete=false
max.batch.size=8192
max.queue.size=32768
poll.interval.ms=5
transforms=outbox
transforms.outbox.type=io.debezium.transforms.outbox.EventRouter
transforms.outbox.route.topic.replacement=${{routedByValue}}
transforms.outbox.table.fields.additional.placement=type:header:ce_type,ce_source:header,ce_specversion:header
",
        port.context("no port")?,
        user.context("no user")?,
        std::str::from_utf8(password)?,
    ))
}
