//! Lets due notifications be sent, of each channel a bounded number at once.
//!
//! A claim is committed before any of its attempts begins. A hint wakes the sender; its timer is the truth.
//! Deliberately absent: the fate of attempts that never report back (see [`crate::watch`]).

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use waybill_domain::export::Channel;
use waybill_runtime::{Health, chain};

use crate::attempt::Attempts;
use crate::channels::Channels;
use crate::claim::{CLAIM_TIMEOUT_MS, Claims, RETURN_TIMEOUT_MS};
use crate::codes;
use crate::limits::Limits;
use crate::settings::Pace;

/// The looks after a hint, in milliseconds after one another: the hint comes just before its transaction commits.
pub(crate) const LOOKS_AFTER_HINT_MS: [u64; 4] = [2, 10, 50, 250];
/// How long attempts may go on once the process is asked to end, in milliseconds.
pub(crate) const DRAIN_MS: u64 = 10_000;
/// How long attempts that were cut off may take to record where they stood, in milliseconds.
pub(crate) const CUT_OFF_MS: u64 = 8_000;

const _: () = assert!(
    RETURN_TIMEOUT_MS + CLAIM_TIMEOUT_MS + DRAIN_MS + CUT_OFF_MS < 30_000,
    "every role ends within 30 s"
);

/// The part of the health page that speaks of claims.
const COMPONENT: &str = "claim";

/// Sends what is due.
#[derive(Debug)]
pub struct Sender {
    attempts: Arc<Attempts>,
    claims: Claims,
    /// The places of each configured channel: one that is slow takes none of another one's.
    places: Vec<(Channel, Arc<Semaphore>)>,
    poll_interval: Duration,
    wake: Arc<Notify>,
    health: Health,
    running: JoinSet<()>,
    cut_off: CancellationToken,
}

impl Sender {
    /// A sender that works on the database behind `pool` and is hinted at by `wake`.
    pub fn new(pool: Pool, channels: Channels, pace: Pace, wake: Arc<Notify>, health: Health) -> Self {
        let places =
            channels.configured().map(|channel| (channel, Arc::new(Semaphore::new(pace.concurrency))));
        let places = places.collect();
        let claims = Claims::new(pool.clone(), pace.send_deadline);
        let attempts = Attempts { pool, channels, retry: pace.retry, health: health.clone() };
        Self {
            attempts: Arc::new(attempts),
            claims,
            places,
            poll_interval: pace.poll_interval,
            wake,
            health,
            running: JoinSet::new(),
            cut_off: CancellationToken::new(),
        }
    }

    /// Sends until `shutdown`, then lets what is under way come to an end within [`DRAIN_MS`].
    pub async fn run(mut self, shutdown: CancellationToken) {
        let mut looks = LOOKS_AFTER_HINT_MS.iter();
        while !shutdown.is_cancelled() {
            while let Some(ended) = self.running.try_join_next() {
                note(ended);
            }
            self.claims.return_unanswered().await;
            self.claim().await;
            let wait = looks.next().map_or(self.poll_interval, |after| Duration::from_millis(*after));
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = self.wake.notified() => looks = LOOKS_AFTER_HINT_MS.iter(),
                // With every place taken this is what lets the next claim begin.
                Some(ended) = self.running.join_next(), if !self.running.is_empty() => note(ended),
                () = sleep(wait) => {}
            }
        }
        self.drain().await;
    }

    /// How many attempts may begin, by channel; a channel without a free place is left out.
    fn free(&self) -> Vec<(Channel, i64)> {
        let free = self.places.iter().map(|(channel, places)| {
            (*channel, i64::try_from(places.available_permits()).unwrap_or(i64::MAX))
        });
        free.filter(|(_, places)| *places > 0).collect()
    }

    /// Takes a place, which is free again when the permit is dropped. Only this task takes places, and no more than
    /// it has just found free.
    fn place(&self, channel: Channel) -> Option<OwnedSemaphorePermit> {
        let (_, places) = self.places.iter().find(|(of, _)| *of == channel)?;
        Arc::clone(places).try_acquire_owned().ok()
    }

    /// Takes as many due notifications as may run and starts them.
    async fn claim(&mut self) {
        let free = self.free();
        if free.is_empty() {
            return;
        }
        let (claimed, deadline) = match self.claims.take(&free).await {
            Ok(taken) => taken,
            Err(error) => {
                let detail = chain(&error);
                self.health.degraded(COMPONENT, codes::NOTIFIER_DATABASE_UNAVAILABLE, detail);
                return;
            }
        };
        // While a claim may stand whose answer was lost, its notifications wait: that is said until it is found.
        if self.claims.are_answered() {
            self.health.clear(COMPONENT);
        }
        for one in claimed {
            let attempts = Arc::clone(&self.attempts);
            let limits = Limits { deadline, cut_off: self.cut_off.clone() };
            let place = self.place(one.channel);
            self.running.spawn(async move {
                attempts.carry_out(one, limits).await;
                drop(place);
            });
        }
    }

    /// Lets attempts end by themselves, then cuts them off where they stand; their outcome is recorded either way.
    async fn drain(mut self) {
        for limit in [DRAIN_MS, CUT_OFF_MS] {
            let ending = async {
                while let Some(ended) = self.running.join_next().await {
                    note(ended);
                }
            };
            let ending = async { tokio::join!(ending, self.claims.return_unanswered()) };
            if timeout(Duration::from_millis(limit), ending).await.is_ok() {
                return;
            }
            self.cut_off.cancel();
        }
        tracing::warn!(attempts = self.running.len(), "attempts were still under way when the process ended");
    }
}

fn note(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(error = %error, "an attempt's task ended without an outcome; the sweeper will find it");
    }
}
