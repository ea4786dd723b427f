//! Takes due notifications and lets them be sent, a bounded number at once.
//!
//! A claim is committed before any of its attempts begins. A hint wakes the sender; its timer is the truth.
//! Deliberately absent: the fate of attempts that never report back (see [`crate::watch`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Pool, PoolError};
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use waybill_runtime::{Health, chain};
use waybill_store::StoreError;
use waybill_store::notification::{self, Claimed};

use crate::attempt::Attempts;
use crate::boot_clock::Deadline;
use crate::channels::Channels;
use crate::codes;
use crate::limits::Limits;
use crate::settings::Pace;

/// How long one claim may take, in milliseconds.
pub(crate) const CLAIM_TIMEOUT_MS: u64 = 5_000;
/// The looks after a hint, in milliseconds after one another: the hint comes just before its transaction commits.
pub(crate) const LOOKS_AFTER_HINT_MS: [u64; 4] = [2, 10, 50, 250];
/// How many claims whose answer was lost are remembered; what is forgotten is found by the sweeper.
pub(crate) const UNANSWERED_CLAIMS_MAX: usize = 64;
/// How long attempts may go on once the process is asked to end, in milliseconds.
pub(crate) const DRAIN_MS: u64 = 10_000;
/// How long attempts that were cut off may take to record where they stood, in milliseconds.
pub(crate) const CUT_OFF_MS: u64 = 8_000;

const _: () = assert!(DRAIN_MS + CUT_OFF_MS + CLAIM_TIMEOUT_MS < 30_000, "every role ends within 30 s");

/// The part of the health page that speaks of claims.
const COMPONENT: &str = "claim";

/// Sends what is due.
#[derive(Debug)]
pub struct Sender {
    attempts: Arc<Attempts>,
    pace: Pace,
    wake: Arc<Notify>,
    health: Health,
    process: Uuid,
    claims: u64,
    unanswered: VecDeque<String>,
    running: JoinSet<()>,
    cut_off: CancellationToken,
}

/// Why a claim failed. It may nevertheless stand.
#[derive(Debug, thiserror::Error)]
enum ClaimError {
    #[error("no connection: {0}")]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no answer within {CLAIM_TIMEOUT_MS} ms")]
    Timeout,
}

impl Sender {
    /// A sender that works on the database behind `pool` and is hinted at by `wake`.
    pub fn new(pool: Pool, channels: Channels, pace: Pace, wake: Arc<Notify>, health: Health) -> Self {
        let attempts = Attempts { pool, channels, retry: pace.retry, health: health.clone() };
        Self {
            attempts: Arc::new(attempts),
            pace,
            wake,
            health,
            process: Uuid::new_v4(),
            claims: 0,
            unanswered: VecDeque::new(),
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
            self.claim().await;
            let wait = looks.next().map_or(self.pace.poll_interval, |after| Duration::from_millis(*after));
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

    fn free(&self) -> usize {
        self.pace.concurrency.saturating_sub(self.running.len())
    }

    /// Takes as many due notifications as may run and starts them.
    async fn claim(&mut self) {
        self.return_unanswered().await;
        let free = self.free();
        if free == 0 {
            return;
        }
        self.claims += 1;
        let claim = format!("{}/{}", self.process.simple(), self.claims);
        // Before the transaction, so that it is never later than the row's own deadline.
        let deadline = Deadline::after(self.pace.send_deadline);
        let claimed = match self.claim_once(&claim, free).await {
            Ok(claimed) => claimed,
            Err(error) => {
                self.health.degraded(
                    COMPONENT,
                    codes::NOTIFIER_DATABASE_UNAVAILABLE,
                    chain(&error),
                );
                if !matches!(error, ClaimError::Pool(_)) {
                    self.remember(claim);
                }
                return;
            }
        };
        self.health.clear(COMPONENT);
        for one in claimed {
            let attempts = Arc::clone(&self.attempts);
            let limits = Limits { deadline, cut_off: self.cut_off.clone() };
            self.running.spawn(async move { attempts.carry_out(one, limits).await });
        }
    }

    async fn claim_once(&self, claim: &str, free: usize) -> Result<Vec<Claimed>, ClaimError> {
        let client = self.attempts.pool.get().await?;
        let limit = i64::try_from(free).unwrap_or(i64::MAX);
        let claiming = notification::claim_due(&**client, claim, limit, self.pace.send_deadline);
        let claimed = timeout(Duration::from_millis(CLAIM_TIMEOUT_MS), claiming)
            .await
            .map_err(|_elapsed| ClaimError::Timeout)?;
        Ok(claimed?)
    }

    /// Keeps a claim's token: nothing of it was started, so whatever it took is surely unsent.
    fn remember(&mut self, claim: String) {
        if self.unanswered.len() == UNANSWERED_CLAIMS_MAX {
            self.unanswered.pop_front();
        }
        self.unanswered.push_back(claim);
    }

    /// Makes due again what claims without an answer took.
    async fn return_unanswered(&mut self) {
        while let Some(claim) = self.unanswered.front() {
            let evidence = json!({ "phase": "claim", "ending": "lost", "detail": "the claim had no answer" });
            let Ok(client) = self.attempts.pool.get().await else { return };
            let returning = notification::return_unsent(&**client, claim, &evidence);
            match timeout(Duration::from_millis(CLAIM_TIMEOUT_MS), returning).await {
                Ok(Ok(returned)) => {
                    tracing::info!(returned, "a claim whose answer was lost is due again");
                    self.unanswered.pop_front();
                }
                Ok(Err(_)) | Err(_) => return,
            }
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
