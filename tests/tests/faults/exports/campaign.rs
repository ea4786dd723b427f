//! Workers are killed at random or stopped past their lease while exports go through, and all the while the collector finds
//! every candidate old enough to go.
//!
//! A short one is an ordinary test. `./dev test --campaign exports --kills 200 --seed 7` runs a longer one. The seed decides
//! who is killed, where and when; the operating system decides the rest.

mod chaos;
mod files;

use std::env;

use rand::SeedableRng;
use rand::rngs::StdRng;
use waybill_testkit::{Process, System, eventually};

use self::chaos::Chaos;
use self::files::Files;

/// How many workers the ordinary test kills.
const KILLS: u32 = 8;

/// How many exports go through for each kill.
const EXPORTS_A_KILL: u32 = 2;

/// What the environment says, or the default.
fn chosen<T: std::str::FromStr>(variable: &str, default: T) -> T {
    let value = env::var(variable).ok().filter(|value| !value.is_empty());
    let parsed =
        value.map(|value| value.parse().unwrap_or_else(|_| panic!("{variable}={value} is no number")));
    parsed.unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_workers_are_killed_no_selected_file_is_lost_and_every_orphan_is_accounted_for() {
    let seed: u64 = chosen("WAYBILL_CAMPAIGN_SEED", rand::random());
    let kills = chosen("WAYBILL_CAMPAIGN_KILLS", KILLS);
    println!("campaign exports: {kills} kills, seed {seed}");
    let system = System::fresh().await;
    let system = system.with("worker.lease_ms", 1_000).with("worker.heartbeat_ms", 300);
    let system = system.with("worker.poll_interval_ms", 50).with("reconciler.poll_interval_ms", 100);
    let house = system.start(&["api", "reconciler"]);
    let operator = system.operator(&house).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let mut exports = Vec::new();
    for number in 0..kills * EXPORTS_A_KILL {
        exports.push(caller.export(&format!("intent-{number}")).await);
    }

    let random = StdRng::seed_from_u64(seed);
    let chaos = Chaos::of(&system, &operator, random).await;
    let (told, worker) = Box::pin(chaos.kill(kills)).await;
    for export_id in &exports {
        let settled = caller.settled(export_id).await;
        assert_eq!(settled["state"], "succeeded", "{export_id}, seed {seed}: {}", worker.log().tail());
    }
    worker.terminate().await;

    let files = Files::of(&system).await;
    files.are_collected().await;
    surveyed(&system, house).await;
    println!("{told}; {}", files.told().await);
    if let Some(violation) = files.violation(exports.len()).await {
        panic!("{violation}\n{told}\nagain: ./dev test --campaign exports --seed {seed} --kills {kills}");
    }
}

/// A reconciler compares the store with the rows when it starts, and finds nothing that no row knows.
async fn surveyed(system: &System, before: Process) {
    before.terminate().await;
    let reconciler = system.start(&["reconciler"]);
    eventually("a survey", || async { (reconciler.metric("waybill_objects").await > 0.0).then_some(()) })
        .await;
    assert!(reconciler.metric("waybill_objects_unknown").await < 1.0, "{:?}", reconciler.reasons().await);
    reconciler.terminate().await;
}
