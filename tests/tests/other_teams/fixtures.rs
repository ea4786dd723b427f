//! A team with a database of its own, and an outbox in it.

use std::process::Output;

use tokio::process::Command;
use tokio_postgres::Client;
use waybill_outbox::{Event, Outbox};
use waybill_testkit::{Launch, Process, ROLE_PASSWORD, Record, Settings, TestDatabase, TestTopics};
use waybill_testkit::{eventually, read_to_end, waybill_binary};

/// The schema of every team's outbox.
pub(crate) const SCHEMA: &str = "shop_outbox";

/// The logins that play a team's roles. They are Waybill's own, which in a team's database may do nothing.
pub(crate) const WRITER: &str = "waybill_api";
pub(crate) const RELAY: &str = "waybill_relay";
pub(crate) const READER: &str = "waybill_search";
pub(crate) const OPERATOR: &str = "waybill_stats";

/// A team's database, beside Waybill's own.
pub(crate) struct Team {
    /// The team's.
    pub(crate) database: TestDatabase,
    /// Waybill's, which also brings the logins.
    pub(crate) product: TestDatabase,
    /// The owner of the team's database.
    pub(crate) owner: Client,
}

impl Team {
    /// Nothing is installed yet.
    pub(crate) async fn without_outbox() -> Self {
        let product = TestDatabase::fresh().await;
        let database = TestDatabase::empty().await;
        let owner = database.admin().await;
        Self { database, product, owner }
    }

    /// An outbox, a table of orders, and a writer who may append to the one and write the other.
    pub(crate) async fn with_outbox() -> Self {
        let team = Self::without_outbox().await;
        team.install_in(SCHEMA).await;
        team.run(&format!(
            "CREATE SCHEMA shop;
             CREATE TABLE shop.orders (order_id text PRIMARY KEY, customer text NOT NULL, cents bigint NOT NULL);
             GRANT USAGE ON SCHEMA shop TO {WRITER};
             GRANT SELECT, INSERT ON shop.orders TO {WRITER}"
        ))
        .await;
        team
    }

    /// An outbox in this schema, for whoever plays a part.
    pub(crate) async fn install_in(&self, schema: &str) {
        let roles =
            ["--writer", WRITER, "--relay", RELAY, "--operator", OPERATOR, "--reader", READER].as_slice();
        let installed = self.install(&[&["--schema", schema], roles].concat()).await;
        assert!(installed.status.success(), "{}", said(&installed));
    }

    /// `waybill outbox install` on the team's database.
    pub(crate) async fn install(&self, arguments: &[&str]) -> Output {
        install_at(&self.database.admin_url(), arguments).await
    }

    /// A connection of the service.
    pub(crate) async fn writer(&self) -> Client {
        self.database.role("api").await
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.owner.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    pub(crate) async fn count(&self, of: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {of}");
        self.owner.query_one(&sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }

    /// The configuration of a deployment that relays the product's outbox and this team's.
    pub(crate) fn settings(&self, topics: &TestTopics) -> Settings {
        Settings::on_database(&self.product)
            .topic_prefix(topics.prefix())
            .set("relay.lease_ms", 2_000)
            .set("relay.outboxes.shop.url", self.database.plain_url())
            .set("relay.outboxes.shop.schema", SCHEMA)
            .set("relay.outboxes.shop.user", RELAY)
            .set("relay.outboxes.shop.password", ROLE_PASSWORD)
    }

    /// A relay of that deployment.
    pub(crate) fn relay(&self, topics: &TestTopics) -> Process {
        Launch::roles(&["relay"], self.settings(topics)).start()
    }
}

/// The handle of every team's outbox.
pub(crate) fn outbox() -> Outbox {
    Outbox::in_schema(SCHEMA).expect("a plain name")
}

/// An event without headers, whose payload is its id.
pub(crate) fn event<'a>(topic: &'a str, key: &'a str, event_id: &'a str) -> Event<'a> {
    Event { topic, key: Some(key.as_bytes()), event_id, headers: &[], payload: Some(event_id.as_bytes()) }
}

/// `waybill outbox install` on the database of this URL.
pub(crate) async fn install_at(url: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(waybill_binary());
    // A variable of the shell that runs the tests would win over what is asked for.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WAYBILL_")) {
        command.env_remove(name);
    }
    command.args(["outbox", "install", "--database-url", url]).args(arguments);
    command.output().await.expect("the binary starts")
}

/// What a command printed, both ways.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// The records of a topic, once it holds so many.
pub(crate) async fn delivered(topic: &str, records: usize) -> Vec<Record> {
    eventually("the records", async || {
        let there = read_to_end(topic).await;
        (there.len() >= records).then_some(there)
    })
    .await
}

/// The payload as text.
pub(crate) fn text(record: &Record) -> String {
    String::from_utf8(record.payload.clone().unwrap_or_default()).expect("text")
}
