//! An outbox, a topic, and relays as processes between them.

use std::time::Duration;

use tokio_postgres::{Client, GenericClient};
use waybill_testkit::{
    Launch, PrivateBroker, Process, Record, Settings, Status, TestDatabase, TestTopics, eventually,
    read_to_end,
};

use super::ledger::Ledger;

/// A lease whose end a test waits for.
pub(crate) const LEASE: Duration = Duration::from_millis(1_500);

/// So many lost rows are named.
const SHOWN_MAX: usize = 10;

/// Appends one event of a key, numbered by its version among those of the key.
pub(crate) const APPEND: &str = "
    INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload)
    SELECT $1, convert_to($2, 'UTF8'), id, ARRAY['ce_id'], ARRAY[convert_to(id, 'UTF8')], convert_to($3::bigint::text, 'UTF8')
    FROM (SELECT gen_random_uuid()::text AS id) AS made
    RETURNING event_id";

/// The rows that the cursor has not passed for good.
pub(crate) const UNSENT: &str = "
    SELECT count(*) FROM outbox.events, outbox.cursor
    WHERE xid >= pg_snapshot_xmin(from_snapshot) AND NOT pg_visible_in_snapshot(xid, from_snapshot)";

/// An outbox of one's own with a topic.
pub(crate) struct Scene {
    pub(crate) admin: Client,
    pub(crate) database: TestDatabase,
    pub(crate) topic: String,
    topics: TestTopics,
    settings: Settings,
}

impl Scene {
    /// On the test's Postgres, with a topic of so many partitions on the test's Kafka.
    pub(crate) async fn new(partitions: i32) -> Self {
        Self::in_database(TestDatabase::fresh().await, partitions).await
    }

    /// In this database.
    pub(crate) async fn in_database(database: TestDatabase, partitions: i32) -> Self {
        let topics = TestTopics::fresh();
        let topic = topics.create("events", partitions).await;
        Self::of(database, topics, topic).await
    }

    /// With a topic on this broker, which relays reach under this address.
    pub(crate) async fn on_broker(broker: &PrivateBroker, bootstrap: &str, partitions: i32) -> Self {
        Self::between(TestDatabase::fresh().await, broker, bootstrap, partitions).await
    }

    /// Between this database and a topic on this broker, which relays reach under this address.
    pub(crate) async fn between(
        database: TestDatabase,
        broker: &PrivateBroker,
        bootstrap: &str,
        partitions: i32,
    ) -> Self {
        broker.create_topic("events", partitions).await;
        let scene = Self::of(database, TestTopics::fresh(), "events".to_owned()).await;
        scene.with(|settings| settings.set("kafka.bootstrap", bootstrap))
    }

    /// With relays whose every interval is the default.
    pub(crate) async fn by_default(partitions: i32) -> Self {
        let scene = Self::new(partitions).await;
        let settings = Settings::on_database(&scene.database).topic_prefix(scene.topics.prefix());
        scene.with(|_| settings)
    }

    async fn of(database: TestDatabase, topics: TestTopics, topic: String) -> Self {
        let settings = Settings::on_database(&database)
            .topic_prefix(topics.prefix())
            .set("relay.lease_ms", i64::try_from(LEASE.as_millis()).expect("a short lease"))
            .set("relay.poll_interval_ms", 50);
        Self { admin: database.admin().await, database, topic, topics, settings }
    }

    /// With other settings for the relays that start from now on.
    pub(crate) fn with(mut self, change: impl FnOnce(Settings) -> Settings) -> Self {
        self.settings = change(self.settings);
        self
    }

    /// After the server has come back.
    pub(crate) async fn reconnect(&mut self) {
        self.admin = self.database.admin().await;
    }

    /// Starts a relay.
    pub(crate) fn relay(&self) -> Process {
        Launch::roles(&["relay"], self.settings.clone()).start()
    }

    /// Starts a relay that stops itself at this point.
    pub(crate) fn relay_at(&self, point: &str) -> Process {
        Launch::roles(&["relay"], self.settings.clone()).fault_point(point).start()
    }

    /// Carries out an operator's command about the outbox.
    pub(crate) async fn operate(&self, command: &[&str]) {
        let url = self.database.admin_url();
        let about = ["--schema", "outbox", "--database-url", &url, "--reason", "the cause is gone", "--yes"];
        let command = Launch::command(&[command, &about[..]].concat(), self.settings.clone()).start();
        let status = command.wait_over().await;
        assert_eq!(status, Status::Exited(0), "{}", command.log().tail());
    }

    /// Commits one event of the key `key`.
    pub(crate) async fn write(&self, version: i64) {
        append(&self.admin, &self.topic, "key", version).await;
    }

    /// Commits these events of the key `key`, each in a transaction of its own.
    pub(crate) async fn write_all(&self, versions: std::ops::RangeInclusive<i64>) {
        for version in versions {
            self.write(version).await;
        }
    }

    /// One number from one row.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let row = self.admin.query_one(sql, &[]).await;
        row.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.admin.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    /// Where the cursor stands, as text.
    pub(crate) async fn place(&self) -> String {
        let sql = "SELECT concat_ws(' ', from_snapshot, to_snapshot, after_seq) FROM outbox.cursor";
        self.admin.query_one(sql, &[]).await.expect("the cursor").get(0)
    }

    /// How many rows the cursor has passed.
    pub(crate) async fn passed(&self) -> i64 {
        self.number("SELECT coalesce(sum(events), 0)::bigint FROM outbox.batches").await
    }

    /// The fence of the relay that took over last.
    pub(crate) async fn fence(&self) -> i64 {
        self.number("SELECT fence FROM outbox.cursor").await
    }

    /// Waits for the takeover after this one.
    pub(crate) async fn taken_after(&self, fence: i64) -> i64 {
        eventually("a takeover", async || Some(self.fence().await).filter(|found| *found > fence)).await
    }

    /// Waits until every row that is committed now is behind the cursor.
    pub(crate) async fn drained(&self) {
        eventually("the outbox is drained", async || (self.number(UNSENT).await == 0).then_some(())).await;
    }

    /// What the topic holds.
    pub(crate) async fn records(&self) -> Vec<Record> {
        read_to_end(&self.topic).await
    }

    /// I2 and I3: the log holds every committed row, and every key's versions 1, 2, 3, … in their order.
    pub(crate) async fn is_whole(&self) -> Ledger {
        self.is_whole_in(&self.records().await).await
    }

    /// The same of a log on a broker of the test's own.
    pub(crate) async fn is_whole_in(&self, records: &[Record]) -> Ledger {
        let ledger = Ledger::of(records);
        match self.violation(&ledger).await {
            Some(violation) => panic!("{violation}"),
            None => ledger,
        }
    }

    /// What is wrong with a log: a committed row that it lacks, one that was never committed, or a key out of order.
    pub(crate) async fn violation(&self, ledger: &Ledger) -> Option<String> {
        let rows = self.admin.query("SELECT event_id FROM outbox.events", &[]).await.expect("the rows");
        let stored = rows.iter().map(|row| row.get::<_, &str>(0));
        let missing: Vec<&str> = stored.filter(|id| !ledger.holds(id)).take(SHOWN_MAX).collect();
        if !missing.is_empty() {
            return Some(format!("rows were lost, these and perhaps more: {missing:?}"));
        }
        if ledger.events() > rows.len() {
            return Some(format!(
                "the log holds {} events, of which {} were committed",
                ledger.events(),
                rows.len()
            ));
        }
        ledger.violation().map(|violation| violation.to_string())
    }

    /// Its topics, under a prefix that nothing else has.
    pub(crate) fn topics(&self) -> &TestTopics {
        &self.topics
    }
}

/// Appends one event and gives its id.
pub(crate) async fn append(db: &impl GenericClient, topic: &str, key: &str, version: i64) -> String {
    let row = db.query_one(APPEND, &[&topic, &key, &version]).await;
    row.unwrap_or_else(|error| panic!("version {version} of {key}: {error:?}")).get(0)
}
