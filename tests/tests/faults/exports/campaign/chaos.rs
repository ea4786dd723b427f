//! Those who kill.

use std::fmt;

use rand::Rng;
use rand::rngs::StdRng;
use serde_json::json;
use tokio_postgres::Client;
use waybill_testkit::{Caller, Process, Status, System, eventually};

/// Where workers stop themselves, so that they are killed or frozen exactly there.
const POINTS: [&str; 4] = ["worker.claiming", "worker.claimed", "worker.uploading", "worker.verified"];

/// How often a long campaign says how far it is.
const TOLD_EVERY: u32 = 25;

const LEFT: &str = "SELECT count(*) FROM export.jobs WHERE state <> 'succeeded'";

/// Two workers, and perhaps a third one that stands still.
pub(super) struct Chaos<'a> {
    system: &'a System,
    operator: &'a Caller,
    admin: Client,
    random: StdRng,
    workers: Vec<Process>,
    /// Stopped in its work; it comes back after another one has taken over.
    zombie: Option<Process>,
    told: Told,
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Told {
    at_point: u32,
    anywhere: u32,
    zombies: u32,
    released: u32,
}

impl Told {
    fn kills(&self) -> u32 {
        self.at_point + self.anywhere
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at_point, anywhere, zombies, released } = self;
        write!(
            f,
            "{at_point} workers killed at a fault point, {anywhere} anywhere, {zombies} stopped past their lease, \
             {released} quarantined exports released"
        )
    }
}

impl<'a> Chaos<'a> {
    pub(super) async fn of(system: &'a System, operator: &'a Caller, random: StdRng) -> Self {
        let (admin, workers) = (system.database.admin().await, Vec::new());
        let mut chaos =
            Self { system, operator, admin, random, workers, zombie: None, told: Told::default() };
        chaos.workers = vec![chaos.replacement(), chaos.replacement()];
        chaos
    }

    /// Kills so many, then leaves one that works.
    pub(super) async fn kill(mut self, kills: u32) -> (Told, Process) {
        let mut said = 0;
        while self.told.kills() < kills {
            self.somebody_stops_or_something_succeeds().await;
            self.age().await;
            self.release().await;
            if self.random.random_range(0..4) == 0 {
                self.freeze().await;
            } else {
                self.kill_one().await;
            }
            if self.told.kills() >= said + TOLD_EVERY {
                said = self.told.kills();
                println!("{said} of {kills} kills");
            }
        }
        // A zombie comes back last, and whatever it still does must count for nothing.
        if let Some(zombie) = self.zombie.take() {
            zombie.go_on();
            self.workers.push(zombie);
        }
        let survivor = self.system.start(&["worker"]);
        self.nothing_is_left().await;
        for worker in self.workers.drain(..) {
            worker.kill().await;
        }
        (self.told, survivor)
    }

    async fn number(&self, sql: &str) -> i64 {
        self.admin.query_one(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }

    async fn somebody_stops_or_something_succeeds(&self) {
        let before = self.number(LEFT).await;
        eventually("a worker to stop or an export to succeed", async || {
            let is_stopped = self.workers.iter().any(|worker| worker.status() == Status::Stopped);
            let left = self.number(LEFT).await;
            (is_stopped || left == 0 || left < before).then_some(())
        })
        .await;
    }

    /// Everything is suddenly old, also what is being written: age alone must never be what a file goes of.
    async fn age(&self) {
        let aged = "UPDATE export.candidates SET created_at = created_at - interval '25 hours',
                        condemned_at = condemned_at - interval '2 hours' WHERE state <> 'deleted'";
        self.admin.batch_execute(aged).await.expect("aged");
    }

    /// Lets go what took three workers down: here it was never the export's fault.
    async fn release(&mut self) {
        let sql = "SELECT export_id FROM export.jobs WHERE state = 'quarantined'";
        for row in self.admin.query(sql, &[]).await.expect("an answer") {
            let path = format!("/v1/ops/exports/{}/release", row.get::<_, String>(0));
            self.operator.post(&path, &json!({ "reason": "a campaign" })).await.success();
            self.told.released += 1;
        }
    }

    async fn nothing_is_left(&mut self) {
        let quarantined = "SELECT count(*) FROM export.jobs WHERE state = 'quarantined'";
        let mut before = i64::MAX;
        while before > 0 {
            self.release().await;
            self.age().await;
            before = eventually("exports to go on", async || {
                let left = self.number(LEFT).await;
                (left < before || self.number(quarantined).await > 0).then_some(left)
            })
            .await;
        }
    }

    fn victim(&mut self) -> usize {
        let stopped = self.workers.iter().position(|worker| worker.status() == Status::Stopped);
        stopped.unwrap_or_else(|| self.random.random_range(0..self.workers.len()))
    }

    fn replacement(&mut self) -> Process {
        if self.random.random_bool(0.25) {
            return self.system.start(&["worker"]);
        }
        let point = POINTS[self.random.random_range(0..POINTS.len())];
        let hit = self.random.random_range(1..=3);
        self.system.start_at(&["worker"], &format!("{point}#{hit}"))
    }

    async fn kill_one(&mut self) {
        let (victim, replacement) = (self.victim(), self.replacement());
        let killed = std::mem::replace(&mut self.workers[victim], replacement);
        let count = if killed.status() == Status::Stopped {
            &mut self.told.at_point
        } else {
            &mut self.told.anywhere
        };
        *count += 1;
        killed.kill().await;
    }

    /// Stops one, and lets the one that was stopped before come back in its place.
    async fn freeze(&mut self) {
        let victim = self.victim();
        self.workers[victim].stop().await;
        let back = match self.zombie.take() {
            Some(zombie) => {
                zombie.go_on();
                zombie
            }
            None => self.replacement(),
        };
        self.zombie = Some(std::mem::replace(&mut self.workers[victim], back));
        self.told.zombies += 1;
    }
}
