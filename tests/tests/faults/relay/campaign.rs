//! Relays, and the servers on either side of them, are killed and troubled at random while two hundred writers write.
//!
//! A short one is an ordinary test. `./dev test --campaign relay --kills 1000 --seed 7` runs a longer one. The seed decides
//! what is done, in which order, to whom and after how many rows; the operating system decides the rest.

mod chaos;
mod troubles;
mod writers;

use std::env;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::time::Instant;
use waybill_testkit::{PrivateBroker, PrivatePostgres, TestDatabase, eventually};

use self::chaos::{COMMITTED, Chaos, Survivors};
use self::troubles::{FLEETING, FLEETING_PARTITIONS, LARGEST_BATCH_BYTES};
use self::writers::Writers;
use super::ledger::Ledger;
use super::scene::Scene;

/// How many relays, and servers beside them, the ordinary test kills.
const KILLS: u32 = 10;

/// How long the writers write, or longer: until the last kill.
const WRITING_SECONDS_MIN: u64 = 30;

/// How many write at once.
const WRITERS: usize = 200;

/// Over how many keys.
const KEYS: i64 = 20;

/// The partitions of their topic.
const PARTITIONS: i32 = 6;

/// How many write, and over how many keys, to the topic that is deleted.
const FLEETING_WRITERS: usize = 8;
const FLEETING_KEYS: i64 = 4;

/// What the environment says, or the default.
fn chosen<T: std::str::FromStr>(variable: &str, default: T) -> T {
    let value = env::var(variable).ok().filter(|value| !value.is_empty());
    let parsed =
        value.map(|value| value.parse().unwrap_or_else(|_| panic!("{variable}={value} is no number")));
    parsed.unwrap_or(default)
}

/// Says how to run it again, whatever it fails at.
struct Again {
    seed: u64,
    kills: u32,
}

impl Drop for Again {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("again: ./dev test --campaign relay --seed {} --kills {}", self.seed, self.kills);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_writers_of_twenty_keys_lose_nothing_and_find_every_version_in_order_whatever_is_killed_or_troubled()
 {
    let seed: u64 = chosen("WAYBILL_CAMPAIGN_SEED", rand::random());
    let kills = chosen("WAYBILL_CAMPAIGN_KILLS", KILLS);
    println!("campaign relay: {kills} kills, seed {seed}");
    let _again = Again { seed, kills };
    // Nothing waits for the disk but who insists.
    let (server, broker) = (PrivatePostgres::start(&["synchronous_commit=off"]), PrivateBroker::start());
    broker.create_topic(FLEETING, FLEETING_PARTITIONS).await;
    let database = TestDatabase::on_server(&server.url()).await;
    let scene = Scene::between(database, &broker, &broker.bootstrap(), PARTITIONS).await.with(|settings| {
        settings
            .set("relay.lease_ms", 2_000)
            .set("relay.page_rows", 200)
            .set("relay.poll_interval_ms", 20)
            .set("relay.batch_bytes_max", LARGEST_BATCH_BYTES)
    });
    let mut random = StdRng::seed_from_u64(seed);
    let mut writers = Writers::of(&scene, KEYS + FLEETING_KEYS, kills).await;
    writers.work(WRITERS, &scene.topic, 1..=KEYS, &mut random);
    let fleeting = writers.work(FLEETING_WRITERS, FLEETING, KEYS + 1..=KEYS + FLEETING_KEYS, &mut random);
    let until = Instant::now() + Duration::from_secs(WRITING_SECONDS_MIN);

    let chaos = Chaos::of(scene, &server, &broker, writers.pace(), fleeting, random);
    let Survivors { scene, told, relay, mut records } = chaos.rage(kills, until).await;
    writers.end().await;
    scene.drained().await;
    let held = "SELECT count(*) FROM outbox.holds WHERE ended_at IS NULL";
    eventually("nothing is held", async || (scene.number(held).await == 0).then_some(())).await;
    relay.kill().await;

    for topic in [FLEETING, &scene.topic] {
        records.extend(broker.read_to_end(topic).await);
    }
    let ledger = Ledger::of(&records);
    let parked = scene.number("SELECT count(*) FROM outbox.parked").await;
    println!("{told}; {} events, of which {parked} were parked, {} records", ledger.events(), records.len());
    if let Some(violation) = scene.violation(&ledger).await {
        panic!("{violation}\n{told}");
    }
    let written = scene.number(COMMITTED).await;
    assert_eq!(i64::try_from(ledger.events()), Ok(written), "each version is one event");
    assert_eq!(i64::try_from(ledger.keys()), Ok(KEYS + FLEETING_KEYS));
}
