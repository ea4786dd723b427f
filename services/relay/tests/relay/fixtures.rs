//! An outbox of one's own, writers for it, and relays in this process.

use std::path::Path;
use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_postgres::{Client, GenericClient};
use tokio_util::sync::CancellationToken;
use waybill_outbox::parked::look_into;
use waybill_outbox::rebase::{Rebased, Wanted, rebase};
use waybill_outbox::window::{Cursor, Method, PageLimits, Statements, acquire};
use waybill_outbox::{Event, append, wake};
use waybill_runtime::{Config, Context, Health, Role};
use waybill_testkit::{Record, Settings, TestDatabase, TestTopics, eventually, read_to_end, within};

/// A lease that no test outlives.
pub(crate) const LONG: std::time::Duration = std::time::Duration::from_secs(600);

/// Bounds that no page of a test reaches.
pub(crate) const WIDE: PageLimits = PageLimits { rows_max: 100_000, bytes_max: 100_000_000 };

/// A database of one's own, without Kafka.
pub(crate) struct Outbox {
    pub(crate) database: TestDatabase,
    pub(crate) admin: Client,
    pub(crate) writer: Client,
}

impl Outbox {
    pub(crate) async fn new() -> Self {
        Self::of(TestDatabase::fresh().await).await
    }

    pub(crate) async fn of(database: TestDatabase) -> Self {
        let admin = database.admin().await;
        let writer = database.role("api").await;
        Self { database, admin, writer }
    }

    /// Takes the lease, with the relay's own privileges, on a connection of its own.
    pub(crate) async fn cursor(&self, holder: &str) -> (Client, Statements, Cursor) {
        let db = self.relay_role().await;
        let statements = Statements::prepare(&db).await.expect("prepared");
        let taken = acquire(&db, holder, LONG).await.expect("the database answers");
        (db, statements, taken.expect("the lease is free"))
    }

    /// A connection with the relay's own privileges and, as its pool has it, its schema.
    pub(crate) async fn relay_role(&self) -> Client {
        let db = self.database.role("relay").await;
        db.batch_execute("SET search_path = outbox").await.expect("set");
        db
    }

    /// Ends the lease, as time would.
    pub(crate) async fn expire(&self) {
        self.run("UPDATE outbox.cursor SET lease_until = now() - interval '1 second'").await;
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.admin.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let row = self.admin.query_one(sql, &[]).await;
        row.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }

    /// Says that the relay goes on here, as `waybill outbox rebase` does.
    pub(crate) async fn rebase(&self) -> Rebased {
        let mut owner = self.database.admin().await;
        let tx = owner.transaction().await.expect("a transaction");
        look_into(&tx, "outbox").await.expect("the outbox");
        let rebased = rebase(&tx, Wanted::default()).await.expect("an answer").expect("no refusal");
        tx.commit().await.expect("committed");
        rebased
    }

    /// Where the cursor stands, as text.
    pub(crate) async fn place(&self) -> String {
        let sql = "SELECT concat_ws(' ', from_snapshot, to_snapshot, after_seq) FROM outbox.cursor";
        self.admin.query_one(sql, &[]).await.expect("the cursor").get(0)
    }
}

/// Appends one event of a key; its payload is the text.
pub(crate) async fn write(tx: &impl GenericClient, topic: &str, key: &str, text: &str) -> i64 {
    let headers = [("ce_id".to_owned(), Some(text.as_bytes().to_vec()))];
    let event = Event {
        topic,
        key: Some(key.as_bytes()),
        event_id: text,
        headers: &headers,
        payload: Some(text.as_bytes()),
    };
    append(tx, &event).await.expect("appended")
}

/// The seqs of what is left of the window, by xid.
pub(crate) async fn seqs(db: &Client, statements: &Statements, cursor: &Cursor) -> Vec<i64> {
    let after_seq = cursor.window.after_seq;
    let page = statements.read_page(db, &cursor.window, Method::ByXid, after_seq, WIDE).await;
    page.expect("a page").rows.iter().map(|row| row.seq).collect()
}

/// An outbox, a topic, and relays between them.
pub(crate) struct House {
    pub(crate) outbox: Outbox,
    pub(crate) topics: TestTopics,
    pub(crate) topic: String,
}

impl House {
    pub(crate) async fn new(partitions: i32) -> Self {
        let topics = TestTopics::fresh();
        let topic = topics.create("events", partitions).await;
        Self { outbox: Outbox::new().await, topics, topic }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::on_database(&self.outbox.database).topic_prefix(self.topics.prefix())
    }

    /// Runs a relay with these settings.
    pub(crate) fn relay(&self, settings: &Settings) -> Running {
        let config =
            Config::from_sources(Path::new("test"), &settings.to_toml(), []).expect("a configuration");
        let health = Health::new(Role::Relay);
        let shutdown = CancellationToken::new();
        let context = Context::new(Arc::new(config), Role::Relay, &health, shutdown.clone());
        let relay = tokio::spawn(waybill_relay::run(context.expect("a context")));
        Running { shutdown, health, relay }
    }

    /// Appends and commits one event, and wakes the relay.
    pub(crate) async fn write(&self, key: &str, text: &str) -> i64 {
        let seq = write(&self.outbox.writer, &self.topic, key, text).await;
        wake(&self.outbox.writer).await.expect("notified");
        seq
    }

    /// Waits until every row that is committed now is behind the cursor.
    pub(crate) async fn drained(&self) {
        eventually("the outbox is drained", async || {
            let left = "SELECT count(*) FROM outbox.events, outbox.cursor \
                        WHERE NOT pg_visible_in_snapshot(xid, from_snapshot)";
            (self.outbox.number(left).await == 0).then_some(())
        })
        .await;
    }

    /// The payloads in the topic, in the order of partitions and offsets.
    pub(crate) async fn delivered(&self) -> Vec<String> {
        read_to_end(&self.topic).await.iter().map(text).collect()
    }

    /// Waits until Kafka has this text, and answers all that it has.
    pub(crate) async fn delivered_up_to(&self, text: &str) -> Vec<String> {
        eventually(text, async || {
            let delivered = self.delivered().await;
            delivered.iter().any(|delivered| delivered == text).then_some(delivered)
        })
        .await
    }
}

/// A record's payload as text.
pub(crate) fn text(record: &Record) -> String {
    String::from_utf8(record.payload.clone().unwrap_or_default()).expect("text")
}

/// Every distinct text in the order in which it came first.
pub(crate) fn first_occurrences(texts: &[String]) -> Vec<String> {
    let mut first = Vec::new();
    for text in texts {
        if !first.contains(text) {
            first.push(text.clone());
        }
    }
    first
}

/// A relay in this process.
pub(crate) struct Running {
    pub(crate) shutdown: CancellationToken,
    pub(crate) health: Health,
    pub(crate) relay: JoinHandle<Result<(), waybill_relay::Error>>,
}

impl Running {
    /// Ends it in an orderly way.
    pub(crate) async fn end(self) {
        self.shutdown.cancel();
        within("the relay ends", self.relay).await.expect("no panic").expect("no error");
    }

    /// Ends it where it stands, without giving anything back.
    pub(crate) async fn crash(self) {
        self.relay.abort();
        let _ = self.relay.await;
    }

    /// Waits until the relay says this code.
    pub(crate) async fn degraded(&self, code: &str) -> String {
        eventually(code, async || {
            let reasons = self.health.report().reasons;
            reasons.into_iter().find(|reason| reason.code == code).map(|reason| reason.detail)
        })
        .await
    }
}
