//! Those who write: each version of a key in a transaction that holds the key's row.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tokio_postgres::{Client, Error, NoTls};
use tokio_util::sync::CancellationToken;
use waybill_testkit::within;

use super::troubles::LARGE_BYTES;
use crate::relay::scene::Scene;

/// How often each of them writes.
const INTERVAL: Duration = Duration::from_millis(200);

/// So many kills are outlasted at that interval; in a longer campaign they write less often, so that the log can still be held.
const KILLS_AT_INTERVAL: u32 = 100;

/// Every so many keys one has large rows now and then: the others flow whatever becomes of those.
const LARGE_EVERY_KEYS: i64 = 4;

/// How often a row of such a key is a large one.
const LARGE_SHARE: f64 = 0.03;

/// The truth beside the outbox: how far each key has come.
const KEYS: &str = "
    CREATE SCHEMA campaign;
    CREATE TABLE campaign.keys (key bigint PRIMARY KEY, version bigint NOT NULL DEFAULT 0);";

/// Appends one version of a key ($1 = topic, $2 = key, $3 = version), made larger ($4).
const APPEND: &str = "
    INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload)
    SELECT $1, convert_to($2, 'UTF8'), id, ARRAY['ce_id', 'filler'], ARRAY[convert_to(id, 'UTF8'), $4::bytea],
        convert_to($3::bigint::text, 'UTF8')
    FROM (SELECT gen_random_uuid()::text AS id) AS made
    RETURNING event_id";

/// Writers at work.
pub(super) struct Writers {
    url: String,
    interval: Duration,
    pace: Pace,
    end: CancellationToken,
    at_work: JoinSet<()>,
}

/// All writers, for whoever wants them not to wait for the disk: then whatever is sent must have been put there by the relay.
#[derive(Clone, Default)]
pub(super) struct Pace {
    is_hasty: Arc<AtomicBool>,
    gates: Vec<Gate>,
}

impl Pace {
    /// From now on every transaction commits asynchronously, and none that does not is under way.
    pub(super) async fn make_haste(&self) {
        self.is_hasty.store(true, Ordering::Relaxed);
        for gate in &self.gates {
            drop(gate.close().await);
        }
    }

    /// From now on some of them wait for the disk again.
    pub(super) fn take_care(&self) {
        self.is_hasty.store(false, Ordering::Relaxed);
    }
}

/// The writers of one topic, for whoever wants them to pause.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<RwLock<()>>);

impl Gate {
    /// As long as what is answered lives, none of them has a transaction under way.
    pub(super) async fn close(&self) -> OwnedRwLockWriteGuard<()> {
        within("the writers pause", Arc::clone(&self.0).write_owned()).await
    }
}

/// What one of them knows.
struct Writer {
    url: String,
    topic: String,
    keys: RangeInclusive<i64>,
    gate: Gate,
    is_hasty: Arc<AtomicBool>,
    random: StdRng,
}

impl Writers {
    /// Makes so many keys. Nobody writes yet.
    pub(super) async fn of(scene: &Scene, keys: i64, kills: u32) -> Self {
        scene.run(KEYS).await;
        scene.run(&format!("INSERT INTO campaign.keys SELECT generate_series(1, {keys})")).await;
        let interval = INTERVAL * kills.div_ceil(KILLS_AT_INTERVAL).max(1);
        Self {
            url: scene.database.admin_url(),
            interval,
            pace: Pace::default(),
            end: CancellationToken::new(),
            at_work: JoinSet::new(),
        }
    }

    /// Those who are at work by now.
    pub(super) fn pace(&self) -> Pace {
        self.pace.clone()
    }

    /// Puts so many to work on these keys of a topic.
    pub(super) fn work(
        &mut self,
        count: usize,
        topic: &str,
        keys: RangeInclusive<i64>,
        random: &mut StdRng,
    ) -> Gate {
        let gate = Gate::default();
        for _ in 0..count {
            let writer = Writer {
                url: self.url.clone(),
                topic: topic.to_owned(),
                keys: keys.clone(),
                gate: gate.clone(),
                is_hasty: Arc::clone(&self.pace.is_hasty),
                random: StdRng::seed_from_u64(random.next_u64()),
            };
            self.at_work.spawn(writer.work(self.interval, self.end.clone()));
        }
        self.pace.gates.push(gate.clone());
        gate
    }

    /// Lets them finish what they are at.
    pub(super) async fn end(mut self) {
        self.end.cancel();
        while let Some(ended) = self.at_work.join_next().await {
            ended.expect("no writer panicked");
        }
    }
}

impl Writer {
    async fn work(mut self, every: Duration, end: CancellationToken) {
        let mut client = None;
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while end.run_until_cancelled(ticks.tick()).await.is_some() {
            // The server is killed as well: whatever fails is tried again later, from what is committed.
            client = match client {
                Some(client) => self.write(&client).await.is_ok().then_some(client),
                None => self.connect().await.ok(),
            };
        }
    }

    async fn connect(&self) -> Result<Client, Error> {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// One version of one key: committed, synchronously or not, or given up in part or whole.
    async fn write(&mut self, client: &Client) -> Result<(), Error> {
        let _open = Arc::clone(&self.gate.0).read_owned().await;
        let key = self.random.random_range(self.keys.clone());
        let (name, filler) = (format!("key {key}"), self.filler(key));
        let is_hasty = self.random.random_bool(0.5) || self.is_hasty.load(Ordering::Relaxed);
        let durably = if is_hasty { "off" } else { "on" };
        client.batch_execute(&format!("BEGIN; SET LOCAL synchronous_commit = {durably}")).await?;
        let next = "UPDATE campaign.keys SET version = version + 1 WHERE key = $1 RETURNING version";
        let version: i64 = client.query_one(next, &[&key]).await?.get(0);
        if self.random.random_bool(0.1) {
            client.batch_execute("SAVEPOINT given_up").await?;
            client.query_one(APPEND, &[&self.topic, &name, &(version + 1_000_000), &filler]).await?;
            client.batch_execute("ROLLBACK TO given_up").await?;
        }
        client.query_one(APPEND, &[&self.topic, &name, &version, &filler]).await?;
        client.batch_execute(if self.random.random_bool(0.1) { "ROLLBACK" } else { "COMMIT" }).await
    }

    /// What makes a row large, now and then. No codec makes it smaller.
    fn filler(&mut self, key: i64) -> Vec<u8> {
        let is_large = key % LARGE_EVERY_KEYS == 0 && self.random.random_bool(LARGE_SHARE);
        let mut filler = vec![0; if is_large { LARGE_BYTES } else { 0 }];
        self.random.fill_bytes(&mut filler);
        filler
    }
}
