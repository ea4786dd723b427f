//! Those who kill.

use std::fmt;

use rand::Rng;
use rand::rngs::StdRng;
use waybill_testkit::{PrivatePostgres, Process, Status, eventually};

use crate::relay::scene::Scene;

/// Where relays stop themselves, so that they are killed exactly there.
const POINTS: [&str; 3] = ["relay.opened", "relay.sent", "relay.acknowledged"];

/// How often a long campaign says how far it is.
const TOLD_EVERY: u32 = 50;

/// Two relays, of which one may be active, and perhaps a third one that stands still.
pub(super) struct Chaos<'a> {
    scene: Scene,
    server: &'a PrivatePostgres,
    random: StdRng,
    relays: Vec<Process>,
    /// Stopped in its work; it comes back after another one has taken over.
    zombie: Option<Process>,
    told: Told,
}

/// What is left at the end.
pub(super) struct Survivors {
    pub(super) scene: Scene,
    pub(super) told: Told,
    /// A relay that works.
    pub(super) relay: Process,
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Told {
    at_point: u32,
    anywhere: u32,
    zombies: u32,
    cut_off: u32,
    crashes: u32,
}

impl Told {
    /// Whoever was killed and not only troubled.
    fn kills(&self) -> u32 {
        self.at_point + self.anywhere + self.crashes
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at_point, anywhere, zombies, cut_off, crashes } = self;
        write!(
            f,
            "{at_point} relays killed at a fault point, {anywhere} anywhere, {zombies} stopped past their lease, \
             {cut_off} times all cut off from the database, {crashes} crashes of the database"
        )
    }
}

impl<'a> Chaos<'a> {
    pub(super) fn of(scene: Scene, server: &'a PrivatePostgres, random: StdRng) -> Self {
        let relays = vec![scene.relay(), scene.relay()];
        Self { scene, server, random, relays, zombie: None, told: Told::default() }
    }

    /// Kills so many times, each time after some rows went through.
    pub(super) async fn kill(mut self, kills: u32) -> Survivors {
        let mut told = 0;
        while self.told.kills() < kills {
            self.some_rows_go_through().await;
            match self.random.random_range(0..20) {
                0 => self.crash().await,
                1 => self.cut_off().await,
                2..=4 => self.freeze().await,
                _ => self.kill_one().await,
            }
            if self.told.kills() >= told + TOLD_EVERY {
                told = self.told.kills();
                println!("{told} of {kills} kills");
            }
        }
        // One that is left may stand still, or be about to.
        let relay = self.scene.relay();
        for left in self.relays.drain(..).chain(self.zombie.take()) {
            left.kill().await;
        }
        Survivors { scene: self.scene, told: self.told, relay }
    }

    /// Waits until a random number of rows has gone through, or a relay stands still at its point.
    async fn some_rows_go_through(&mut self) {
        let wanted = self.scene.passed().await + self.random.random_range(1..300);
        eventually("rows to go through", async || {
            let is_stopped = self.relays.iter().any(|relay| relay.status() == Status::Stopped);
            (is_stopped || self.scene.passed().await >= wanted).then_some(())
        })
        .await;
    }

    /// One that stands still at its point, else any.
    fn victim(&mut self) -> usize {
        let stopped = self.relays.iter().position(|relay| relay.status() == Status::Stopped);
        stopped.unwrap_or_else(|| self.random.random_range(0..self.relays.len()))
    }

    fn replacement(&mut self) -> Process {
        if self.random.random_bool(0.5) {
            return self.scene.relay();
        }
        let point = POINTS[self.random.random_range(0..POINTS.len())];
        let hit = self.random.random_range(1..=30);
        self.scene.relay_at(&format!("{point}#{hit}"))
    }

    async fn kill_one(&mut self) {
        let (victim, replacement) = (self.victim(), self.replacement());
        let killed = std::mem::replace(&mut self.relays[victim], replacement);
        let count = if killed.status() == Status::Stopped {
            &mut self.told.at_point
        } else {
            &mut self.told.anywhere
        };
        *count += 1;
        killed.kill().await;
    }

    /// Stops one, and lets the one that was stopped before come back, in a place that another one loses.
    async fn freeze(&mut self) {
        let victim = self.victim();
        self.relays[victim].stop().await;
        let back = match self.zombie.take() {
            Some(zombie) => {
                zombie.go_on();
                zombie
            }
            None => self.replacement(),
        };
        self.zombie = Some(std::mem::replace(&mut self.relays[victim], back));
        self.told.zombies += 1;
    }

    /// Breaks off what connections the relays have to the database.
    async fn cut_off(&mut self) {
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'waybill_relay'";
        self.scene.run(cut).await;
        self.told.cut_off += 1;
    }

    /// Ends the database at once, and starts it again.
    async fn crash(&mut self) {
        self.server.crash().await;
        self.server.run();
        self.scene.reconnect().await;
        self.told.crashes += 1;
    }
}
