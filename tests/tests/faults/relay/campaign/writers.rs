//! Those who write: each version of a key in a transaction that holds the key's row.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tokio_postgres::{Client, Error, NoTls};
use tokio_util::sync::CancellationToken;

use crate::relay::scene::{APPEND, Scene};

/// How often each of them writes.
const PACE: Duration = Duration::from_millis(200);

/// So many kills are outlasted at that pace; in a longer campaign they write less often, so that the log can still be held.
const KILLS_AT_PACE: u32 = 100;

/// The truth beside the outbox: how far each key has come.
const KEYS: &str = "
    CREATE SCHEMA campaign;
    CREATE TABLE campaign.keys (key bigint PRIMARY KEY, version bigint NOT NULL DEFAULT 0);";

/// Writers at work.
pub(super) struct Writers {
    end: CancellationToken,
    at_work: JoinSet<()>,
}

/// What one of them knows.
struct Writer {
    url: String,
    topic: String,
    keys: i64,
    random: StdRng,
}

impl Writers {
    /// Puts so many to work.
    pub(super) async fn start(scene: &Scene, count: u64, keys: i64, kills: u32, random: &mut StdRng) -> Self {
        scene.run(KEYS).await;
        scene.run(&format!("INSERT INTO campaign.keys SELECT generate_series(1, {keys})")).await;
        let pace = PACE * kills.div_ceil(KILLS_AT_PACE).max(1);
        let end = CancellationToken::new();
        let mut at_work = JoinSet::new();
        for _ in 0..count {
            let random = StdRng::seed_from_u64(random.next_u64());
            let (url, topic) = (scene.database.admin_url(), scene.topic.clone());
            at_work.spawn(Writer { url, topic, keys, random }.work(pace, end.clone()));
        }
        Self { end, at_work }
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
    async fn work(mut self, pace: Duration, end: CancellationToken) {
        let mut client = None;
        let mut ticks = interval(pace);
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
        let key = self.random.random_range(1..=self.keys);
        let name = format!("key {key}");
        let durably = if self.random.random_bool(0.5) { "on" } else { "off" };
        client.batch_execute(&format!("BEGIN; SET LOCAL synchronous_commit = {durably}")).await?;
        let next = "UPDATE campaign.keys SET version = version + 1 WHERE key = $1 RETURNING version";
        let version: i64 = client.query_one(next, &[&key]).await?.get(0);
        if self.random.random_bool(0.1) {
            client.batch_execute("SAVEPOINT given_up").await?;
            client.query_one(APPEND, &[&self.topic, &name, &(version + 1_000_000)]).await?;
            client.batch_execute("ROLLBACK TO given_up").await?;
        }
        client.query_one(APPEND, &[&self.topic, &name, &version]).await?;
        client.batch_execute(if self.random.random_bool(0.1) { "ROLLBACK" } else { "COMMIT" }).await
    }
}
