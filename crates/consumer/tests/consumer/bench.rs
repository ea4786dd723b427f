//! What every test of the consumer stands on: a migrated database, a topic, a consumer group, and an effect that writes
//! down each time it is had.
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test file is a crate of its own and uses its share"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Manager, Pool, Runtime};
use rdkafka::ClientConfig;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, NoTls, Transaction};
use tokio_util::sync::CancellationToken;
use waybill_consumer::{
    Batch, ConsumerError, ConsumerOptions, DecodeError, Dedup, Effect, EffectError, EventKey, Poison, Record,
    StatusSink, bind_topic, run, topic_id,
};
use waybill_testkit::{TestDatabase, TestTopics, eventually, kafka_bootstrap, within};

/// The schema whose consumer tables the tests use, and its role.
const SCHEMA: &str = "stats";
/// The topic's name behind the test's prefix.
const TOPIC: &str = "records";
const KAFKA_TIMEOUT: Duration = Duration::from_secs(10);

/// A database, a topic and a group of one test's own.
pub(crate) struct Bench {
    pub(crate) db: TestDatabase,
    pub(crate) admin: Client,
    pub(crate) topics: TestTopics,
    pub(crate) topic: String,
    pub(crate) group: String,
    producer: FutureProducer,
}

/// One time that an event had its effect.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Had {
    pub(crate) id: String,
    pub(crate) partition: i32,
    pub(crate) offset: i64,
}

impl Bench {
    pub(crate) async fn fresh(partitions: i32) -> Self {
        let db = TestDatabase::fresh().await;
        let admin = db.admin().await;
        admin
            .batch_execute(
                "CREATE TABLE stats.effects (event_id text, partition integer, record_offset bigint, \
                 CHECK (event_id <> 'refused-by-postgres'));
                 GRANT SELECT, INSERT ON stats.effects TO waybill_stats;
                 SET search_path = stats",
            )
            .await
            .unwrap();
        let topics = TestTopics::fresh();
        let topic = topics.create(TOPIC, partitions).await;
        let group = format!("{}group", topics.prefix());
        let producer = ClientConfig::new()
            .set("bootstrap.servers", kafka_bootstrap())
            .set("enable.idempotence", "true")
            .create()
            .unwrap();
        Self { db, admin, topics, topic, group, producer }
    }

    /// A bench whose group is bound to the topic.
    pub(crate) async fn bound(partitions: i32) -> Self {
        let bench = Self::fresh(partitions).await;
        assert!(bench.bind().await);
        bench
    }

    pub(crate) async fn bind(&self) -> bool {
        let id = self.topic_id().await.expect("the topic is there");
        bind_topic(&self.admin, &self.group, &self.topic, &id).await.unwrap()
    }

    pub(crate) async fn topic_id(&self) -> Option<String> {
        topic_id(&self.settings(), &self.topic, KAFKA_TIMEOUT).await.unwrap()
    }

    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        vec![("bootstrap.servers".to_owned(), kafka_bootstrap())]
    }

    pub(crate) fn options(&self) -> ConsumerOptions {
        ConsumerOptions {
            backoff_max: Duration::from_millis(500),
            topic_check_interval: Duration::from_millis(500),
            ..ConsumerOptions::new(&self.group, &self.topic, self.settings())
        }
    }

    /// A pool of the role's connections, as the runtime makes it.
    pub(crate) fn pool(&self) -> Pool {
        let mut config: tokio_postgres::Config = self.db.role_url(SCHEMA).parse().unwrap();
        config.options(format!("-c search_path={SCHEMA}"));
        Pool::builder(Manager::new(config, NoTls))
            .max_size(8)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(Duration::from_secs(3)))
            .create_timeout(Some(Duration::from_secs(3)))
            .build()
            .unwrap()
    }

    pub(crate) fn start(&self) -> Member {
        self.start_with(self.options(), Ledger::default())
    }

    pub(crate) fn start_with(&self, options: ConsumerOptions, effect: Ledger) -> Member {
        let (status, shutdown, effect) =
            (Arc::new(Status::default()), CancellationToken::new(), Arc::new(effect));
        let task = tokio::spawn(run(
            options,
            self.pool(),
            Arc::clone(&effect),
            Arc::clone(&status) as Arc<dyn StatusSink>,
            shutdown.clone(),
        ));
        Member { status, shutdown, effect, task }
    }

    /// Sends an event and gives its offset. Its payload says how the ledger takes it: see [`Ledger`].
    pub(crate) async fn send(&self, partition: i32, id: &str, payload: &str) -> i64 {
        let headers = OwnedHeaders::new().insert(Header { key: "id", value: Some(id) });
        let record =
            FutureRecord::to(&self.topic).partition(partition).key(id).payload(payload).headers(headers);
        self.producer.send(record, KAFKA_TIMEOUT).await.unwrap().offset
    }

    /// Sends one event of each id, and waits until Kafka has them all.
    pub(crate) async fn send_all(&self, partition: i32, ids: &[String], payload: &str) {
        let sends: Vec<_> = ids
            .iter()
            .map(|id| {
                let headers = OwnedHeaders::new().insert(Header { key: "id", value: Some(id) });
                let record = FutureRecord::to(&self.topic).partition(partition).key(id).payload(payload);
                self.producer.send_result(record.headers(headers)).map_err(|(error, _)| error).unwrap()
            })
            .collect();
        for sent in sends {
            sent.await.unwrap().map_err(|(error, _)| error).unwrap();
        }
    }

    pub(crate) async fn effects(&self) -> Vec<Had> {
        let rows =
            self.admin.query("SELECT event_id, partition, record_offset FROM stats.effects", &[]).await;
        let mut effects: Vec<Had> = rows
            .unwrap()
            .iter()
            .map(|row| Had { id: row.get(0), partition: row.get(1), offset: row.get(2) })
            .collect();
        effects.sort();
        effects
    }

    pub(crate) async fn ids(&self) -> Vec<String> {
        self.effects().await.into_iter().map(|had| had.id).collect()
    }

    /// Position and fence.
    pub(crate) async fn position(&self, partition: i32) -> Option<(i64, i64)> {
        let statement =
            "SELECT next_offset, fence FROM stats.positions WHERE consumer_group = $1 AND partition = $2";
        let row = self.admin.query_opt(statement, &[&self.group, &partition]).await.unwrap();
        row.map(|row| (row.get(0), row.get(1)))
    }

    /// Waits until the position of `partition` is `next_offset`.
    pub(crate) async fn reached(&self, partition: i32, next_offset: i64) {
        eventually(&format!("position {next_offset} of partition {partition}"), async || {
            self.position(partition).await.filter(|(stored, _)| *stored == next_offset)
        })
        .await;
    }

    /// Offset, reason, payload and header values of what is parked.
    pub(crate) async fn parked(&self) -> Vec<(i64, String, Option<Vec<u8>>, Vec<Option<Vec<u8>>>)> {
        let statement =
            "SELECT record_offset, reason, payload, header_values FROM stats.parked ORDER BY record_offset";
        let rows = self.admin.query(statement, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect()
    }
}

/// One running consumer.
pub(crate) struct Member {
    pub(crate) status: Arc<Status>,
    pub(crate) effect: Arc<Ledger>,
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), ConsumerError>>,
}

impl Member {
    /// Asks it to end, and waits until it has.
    pub(crate) async fn end(self) {
        self.shutdown.cancel();
        within("the consumer's end", self.task).await.unwrap().unwrap();
    }
}

/// What a consumer says about itself, to wait on.
pub(crate) struct Status {
    said: watch::Sender<BTreeMap<String, &'static str>>,
}

impl Default for Status {
    fn default() -> Self {
        Self { said: watch::Sender::new(BTreeMap::new()) }
    }
}

impl Status {
    /// Waits until some component says `code`; gives its name.
    pub(crate) async fn says(&self, code: &str) -> String {
        let mut said = self.said.subscribe();
        let what = format!("{code}; last said {:?}", *self.said.borrow());
        let said = within(&what, said.wait_for(|said| said.values().any(|now| *now == code))).await.unwrap();
        said.iter().find(|(_, now)| **now == code).map(|(component, _)| component.clone()).unwrap()
    }

    /// Waits until no component says anything.
    pub(crate) async fn is_well(&self) {
        within("a clear status", self.said.subscribe().wait_for(BTreeMap::is_empty)).await.unwrap();
    }
}

impl StatusSink for Status {
    fn degraded(&self, component: &str, code: &'static str, _: &str) {
        self.said.send_modify(|said| {
            said.insert(component.to_owned(), code);
        });
    }

    fn clear(&self, component: &str) {
        self.said.send_modify(|said| {
            said.remove(component);
        });
    }
}

/// Writes down every effect, twice if it is had twice. The payload says how a record is taken: `poison` cannot be decoded,
/// `later` has to wait until [`Ledger::readable`], `refused` is refused by the effect, `says …` has a fingerprint, and
/// anything else is applied.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) readable: AtomicBool,
}

/// A record as the ledger reads it.
pub(crate) struct Entry {
    id: String,
    payload: String,
}

#[async_trait]
impl Effect for Ledger {
    type Event = Entry;

    fn dedup(&self) -> Dedup {
        Dedup::ByInbox
    }

    fn decode(&self, record: &Record) -> Result<Entry, DecodeError> {
        let payload = String::from_utf8_lossy(record.payload.as_deref().unwrap_or_default()).into_owned();
        let id = record.header_pairs().find(|(name, _)| *name == "id").and_then(|(_, value)| value);
        match payload.as_str() {
            "poison" => Err(Poison { reason: "test-poison", detail: "says so itself".into() }.into()),
            "later" if !self.readable.load(Ordering::SeqCst) => {
                Err(DecodeError::Wait { reason: "test-later", detail: "not readable yet".into() })
            }
            _ => Ok(Entry { id: String::from_utf8_lossy(id.unwrap_or_default()).into_owned(), payload }),
        }
    }

    fn event_key(&self, event: &Entry) -> EventKey {
        EventKey { source: "urn:test".into(), id: event.id.clone() }
    }

    fn fingerprint(&self, event: &Entry) -> Option<Vec<u8>> {
        let said = event.payload.strip_prefix("says ")?;
        Some([b"\x01", said.as_bytes()].concat())
    }

    async fn apply(&self, tx: &Transaction<'_>, batch: &Batch<'_, Entry>) -> Result<(), EffectError> {
        for delivery in &batch.events {
            if delivery.event.payload == "refused" {
                let detail = "says so itself".to_owned();
                return Err(EffectError::Poison { offset: delivery.offset, reason: "test-refused", detail });
            }
            let effect = "INSERT INTO effects (event_id, partition, record_offset) VALUES ($1, $2, $3)";
            tx.execute(effect, &[&delivery.event.id, &batch.partition, &delivery.offset]).await?;
        }
        Ok(())
    }
}
