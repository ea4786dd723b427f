//! Those who kill.

use std::fmt;

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use tokio::time::Instant;
use waybill_testkit::{PrivateBroker, PrivatePostgres, Process, Record, Status, eventually};

use super::troubles::Troubles;
use super::writers::{Gate, Pace};
use crate::relay::scene::Scene;

/// Where relays stop themselves, so that they are killed exactly there.
const POINTS: [&str; 3] = ["relay.opened", "relay.sent", "relay.acknowledged"];

/// How many relays a round kills beside everything else: few in a short campaign, so that it has a whole round, and more in
/// a long one, of which restarting servers would otherwise take up most.
const RELAYS_A_ROUND_MIN: u32 = 8;
const RELAYS_A_ROUND_MAX: u32 = 40;

/// A long campaign has so many rounds.
const ROUNDS: u32 = 25;

/// How many rows the cursor has passed, those among them that it parked.
const PASSED: &str = "
    SELECT (SELECT coalesce(sum(events), 0)::bigint FROM outbox.batches) + (SELECT count(*) FROM outbox.parked)";

/// How many versions stand, of which a crash takes back those that nobody waited for.
pub(super) const COMMITTED: &str = "SELECT sum(version)::bigint FROM campaign.keys";

/// Two relays, of which one may be active, and perhaps a third one that stands still.
pub(super) struct Chaos<'a> {
    pub(super) scene: Scene,
    server: &'a PrivatePostgres,
    writers: Pace,
    pub(super) random: StdRng,
    relays: Vec<Process>,
    /// Stopped in its work; it comes back after another one has taken over.
    zombie: Option<Process>,
    pub(super) troubles: Troubles<'a>,
    pub(super) told: Told,
}

/// What is left at the end.
pub(super) struct Survivors {
    pub(super) scene: Scene,
    pub(super) told: Told,
    /// A relay that works.
    pub(super) relay: Process,
    /// What topics held before they were deleted.
    pub(super) records: Vec<Record>,
}

/// One thing to do.
#[derive(Debug, Clone, Copy)]
enum Deed {
    KillRelay,
    Freeze,
    CutOff,
    CrashDatabase,
    KillBroker,
    /// Lowers the limit of a topic, or raises it again.
    TurnLimit,
    /// Deletes a topic, or accepts the one that was made again.
    TurnTopic,
}

/// A round has each of these, in any order: what is troubled in it is mended in it.
const DEEDS: [Deed; 10] = [
    Deed::Freeze,
    Deed::Freeze,
    Deed::Freeze,
    Deed::CutOff,
    Deed::CrashDatabase,
    Deed::KillBroker,
    Deed::TurnLimit,
    Deed::TurnLimit,
    Deed::TurnTopic,
    Deed::TurnTopic,
];

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Told {
    at_point: u32,
    anywhere: u32,
    zombies: u32,
    cut_off: u32,
    crashes: u32,
    /// Versions that were committed and that a crash took back.
    lost: i64,
    pub(super) brokers: u32,
    pub(super) limits: u32,
    pub(super) topics: u32,
}

impl Told {
    /// Whoever was killed and not only troubled.
    fn kills(&self) -> u32 {
        self.at_point + self.anywhere + self.crashes + self.brokers
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at_point, anywhere, zombies, cut_off, crashes, lost, brokers, limits, topics } = self;
        write!(
            f,
            "{at_point} relays killed at a fault point, {anywhere} anywhere, {zombies} stopped past their lease, \
             {cut_off} times all cut off from the database, {crashes} crashes of the database that took back \
             {lost} versions, {brokers} of the broker, \
             {limits} times a limit lowered and raised, {topics} times a topic deleted and made again"
        )
    }
}

/// A relay ends when it is killed and not otherwise.
fn must_not_have_ended(relay: &Process) {
    let status = relay.status();
    let is_there = matches!(status, Status::Running | Status::Stopped);
    assert!(is_there, "a relay ended by itself, {status:?}, the end of its log:\n{}", relay.log().tail());
}

impl<'a> Chaos<'a> {
    pub(super) fn of(
        scene: Scene,
        server: &'a PrivatePostgres,
        broker: &'a PrivateBroker,
        writers: Pace,
        fleeting: Gate,
        random: StdRng,
    ) -> Self {
        let relays = vec![scene.relay(), scene.relay()];
        let (troubles, told) = (Troubles::of(broker, fleeting), Told::default());
        Self { scene, server, writers, random, relays, zombie: None, troubles, told }
    }

    /// Kills at least so many times, in whole rounds, and at least until then; each time after some rows went through.
    pub(super) async fn rage(mut self, kills: u32, until: Instant) -> Survivors {
        let begun = Instant::now();
        while self.told.kills() < kills {
            for deed in self.round(kills) {
                self.some_rows_go_through().await;
                self.carry_out(deed).await;
                println!("{} s, {} kills: {deed:?}", begun.elapsed().as_secs(), self.told.kills());
            }
        }
        while Instant::now() < until {
            self.some_rows_go_through().await;
            self.carry_out(Deed::KillRelay).await;
        }
        // One that is left may stand still, or be about to.
        let relay = self.scene.relay();
        for left in self.relays.drain(..).chain(self.zombie.take()) {
            left.kill().await;
        }
        Survivors { scene: self.scene, told: self.told, relay, records: self.troubles.records }
    }

    /// Everything that is done once or twice, between relays that are killed.
    fn round(&mut self, kills: u32) -> Vec<Deed> {
        let relays = (kills / ROUNDS).clamp(RELAYS_A_ROUND_MIN, RELAYS_A_ROUND_MAX);
        let mut round: Vec<Deed> = (0..relays).map(|_| Deed::KillRelay).chain(DEEDS).collect();
        round.shuffle(&mut self.random);
        round
    }

    async fn carry_out(&mut self, deed: Deed) {
        match deed {
            Deed::KillRelay => {
                let replacement = self.replacement();
                self.kill_one(replacement).await;
            }
            Deed::Freeze => self.freeze().await,
            Deed::CutOff => self.cut_off().await,
            Deed::CrashDatabase => self.crash().await,
            Deed::KillBroker => self.kill_broker().await,
            Deed::TurnLimit => self.turn_limit().await,
            Deed::TurnTopic => self.turn_topic().await,
        }
    }

    /// Waits until a random number of rows has gone through.
    async fn some_rows_go_through(&mut self) {
        let wanted = self.scene.number(PASSED).await + self.random.random_range(1..300);
        self.until("rows to go through", async |scene| (scene.number(PASSED).await >= wanted).then_some(()))
            .await;
    }

    /// Waits until there is what is looked for. Whoever has to do it may stand still at its point: then it is killed.
    pub(super) async fn until<T>(&mut self, what: &str, look: impl AsyncFn(&Scene) -> Option<T>) -> T {
        loop {
            self.relays.iter().chain(&self.zombie).for_each(must_not_have_ended);
            let seen = eventually(what, async || match look(&self.scene).await {
                Some(found) => Some(Some(found)),
                None => self.is_any_stopped().then_some(None),
            })
            .await;
            match seen {
                Some(found) => return found,
                None => {
                    let replacement = self.scene.relay();
                    self.kill_one(replacement).await;
                }
            }
        }
    }

    fn is_any_stopped(&self) -> bool {
        self.relays.iter().any(|relay| relay.status() == Status::Stopped)
    }

    /// One that stands still at its point, else any.
    fn victim(&mut self) -> usize {
        let stopped = self.relays.iter().position(|relay| relay.status() == Status::Stopped);
        stopped.unwrap_or_else(|| self.random.random_range(0..self.relays.len()))
    }

    pub(super) fn replacement(&mut self) -> Process {
        if self.random.random_bool(0.5) {
            return self.scene.relay();
        }
        let point = POINTS[self.random.random_range(0..POINTS.len())];
        let hit = self.random.random_range(1..=30);
        self.scene.relay_at(&format!("{point}#{hit}"))
    }

    pub(super) async fn kill_one(&mut self, replacement: Process) {
        let victim = self.victim();
        let killed = std::mem::replace(&mut self.relays[victim], replacement);
        must_not_have_ended(&killed);
        let count = if killed.status() == Status::Stopped {
            &mut self.told.at_point
        } else {
            &mut self.told.anywhere
        };
        *count += 1;
        killed.kill().await;
    }

    /// Stops the active one for so long that another one takes over, and lets the one that was stopped before come back in
    /// its place.
    async fn freeze(&mut self) {
        let mut back = match self.zombie.take() {
            Some(zombie) => {
                zombie.go_on();
                zombie
            }
            None => self.replacement(),
        };
        loop {
            let (victim, fence) = (self.victim(), self.scene.fence().await);
            self.relays[victim].stop().await;
            let frozen = std::mem::replace(&mut self.relays[victim], back);
            let passed = self.scene.number(PASSED).await;
            let is_taken_over = self
                .until("another one takes over, or goes on", async |scene| {
                    let is_taken_over = scene.fence().await > fence;
                    (is_taken_over || scene.number(PASSED).await > passed).then_some(is_taken_over)
                })
                .await;
            if is_taken_over {
                self.zombie = Some(frozen);
                self.told.zombies += 1;
                return;
            }
            // It stood by: it comes back in the place of the next one.
            frozen.go_on();
            back = frozen;
        }
    }

    /// Breaks off what connections the relays have to the database.
    async fn cut_off(&mut self) {
        let cut = "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE usename = 'waybill_relay'";
        self.until("a connection to be cut", async |scene| (scene.number(cut).await > 0).then_some(())).await;
        self.told.cut_off += 1;
    }

    /// Ends the database at once, and starts it again. What nobody waited for is lost with it, and must not have been sent.
    async fn crash(&mut self) {
        self.writers.make_haste().await;
        self.server.freeze_log_writer().await;
        let last = self.scene.number("SELECT max(seq) FROM outbox.events").await;
        let sent = format!("SELECT count(*) FROM outbox.batches WHERE last_seq > {last}");
        self.until("a row is sent that nobody waited for", async |scene| {
            (scene.number(&sent).await > 0).then_some(())
        })
        .await;
        self.some_rows_go_through().await;
        let committed = self.scene.number(COMMITTED).await;
        self.server.crash().await;
        self.server.run();
        self.writers.take_care();
        self.scene.reconnect().await;
        self.told.lost += committed.saturating_sub(self.scene.number(COMMITTED).await).max(0);
        self.told.crashes += 1;
    }
}
