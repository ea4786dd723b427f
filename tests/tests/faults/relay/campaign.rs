//! Relays are killed at random, one after the other, while two hundred writers write.
//!
//! A short one is an ordinary test. `./dev test --campaign relay --kills 1000 --seed 7` runs a longer one. The seed decides
//! who is killed, how and after how many rows; the operating system decides the rest.

mod chaos;
mod writers;

use std::env;

use rand::SeedableRng;
use rand::rngs::StdRng;
use waybill_testkit::{PrivatePostgres, TestDatabase};

use self::chaos::{Chaos, Survivors};
use self::writers::Writers;
use super::ledger::Ledger;
use super::scene::Scene;

/// How many relays, and servers under them, the ordinary test kills.
const KILLS: u32 = 10;

/// How many write at once.
const WRITERS: u64 = 200;

/// Over how many keys.
const KEYS: i64 = 20;

/// The topic's partitions.
const PARTITIONS: i32 = 6;

/// What the environment says, or the default.
fn chosen<T: std::str::FromStr>(variable: &str, default: T) -> T {
    let value = env::var(variable).ok().filter(|value| !value.is_empty());
    let parsed =
        value.map(|value| value.parse().unwrap_or_else(|_| panic!("{variable}={value} is no number")));
    parsed.unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_writers_of_twenty_keys_lose_nothing_and_find_every_version_in_order_whatever_relays_are_killed()
 {
    let seed: u64 = chosen("WAYBILL_CAMPAIGN_SEED", rand::random());
    let kills = chosen("WAYBILL_CAMPAIGN_KILLS", KILLS);
    println!("campaign relay: {kills} kills, seed {seed}");
    let server = PrivatePostgres::start(&[]);
    let database = TestDatabase::on_server(&server.url()).await;
    let scene = Scene::in_database(database, PARTITIONS).await.with(|settings| {
        settings.set("relay.lease_ms", 1_000).set("relay.page_rows", 200).set("relay.poll_interval_ms", 20)
    });
    let mut random = StdRng::seed_from_u64(seed);
    let writers = Writers::start(&scene, WRITERS, KEYS, kills, &mut random).await;

    let Survivors { scene, told, relay } = Chaos::of(scene, &server, random).kill(kills).await;
    writers.end().await;
    scene.drained().await;
    relay.kill().await;

    let records = scene.records().await;
    let ledger = Ledger::of(&records);
    println!("{told}; {} events, {} records", ledger.events(), records.len());
    if let Some(violation) = scene.violation(&ledger).await {
        panic!("{violation}\n{told}\nagain: ./dev test --campaign relay --seed {seed} --kills {kills}");
    }
    let written = scene.number("SELECT sum(version)::bigint FROM campaign.keys").await;
    assert_eq!(i64::try_from(ledger.events()), Ok(written), "seed {seed}: each version is one event");
    assert_eq!(i64::try_from(ledger.keys()), Ok(KEYS));
}
