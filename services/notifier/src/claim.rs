//! Takes due notifications from the database, and makes due again what was taken without our learning of it.
//!
//! A claim is one short transaction that the database itself ends if it stalls. What remains is a commit without an
//! answer: nothing of such a claim is ever started, so its token is kept until its rows are found and due again, or
//! until the sweeper has long decided about them.

use std::collections::VecDeque;
use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError};
use serde_json::json;
use tokio::time::timeout;
use uuid::Uuid;
use waybill_domain::export::Channel;
use waybill_store::StoreError;
use waybill_store::notification::{self, Claimed};

use crate::boot_clock::Deadline;
use crate::watch::SWEEP_GRACE_MS;

/// How long one claim may take, a connection for it included, in milliseconds.
pub(crate) const CLAIM_TIMEOUT_MS: u64 = 5_000;
/// How long the database lets one of a claim's statements take, or waits for the next one, in milliseconds.
pub(crate) const CLAIM_STATEMENT_TIMEOUT_MS: u64 = 3_000;
/// How long one look for claims without an answer may take, in milliseconds.
pub(crate) const RETURN_TIMEOUT_MS: u64 = 5_000;
/// How many claims without an answer are remembered; what is forgotten is found by the sweeper.
pub(crate) const UNANSWERED_CLAIMS_MAX: usize = 64;

const _: () = assert!(CLAIM_STATEMENT_TIMEOUT_MS < CLAIM_TIMEOUT_MS, "the database gives up before we do");

/// Why a claim failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClaimError {
    #[error("no connection")]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no answer within {CLAIM_TIMEOUT_MS} ms")]
    Timeout,
    #[error("the claim may stand, for its commit had no answer")]
    Unanswered(#[source] Box<ClaimError>),
}

/// A claim that may stand although nothing of it was started.
#[derive(Debug)]
struct Unanswered {
    claim: String,
    /// When the sweeper has surely decided about whatever the claim took.
    until: Deadline,
}

/// The claims of one sender.
#[derive(Debug)]
pub(crate) struct Claims {
    pool: Pool,
    send_deadline: Duration,
    process: Uuid,
    made: u64,
    unanswered: VecDeque<Unanswered>,
}

impl Claims {
    /// Claims on the database behind `pool`, whose attempts may be sent until `send_deadline` after them.
    pub(crate) fn new(pool: Pool, send_deadline: Duration) -> Self {
        Self { pool, send_deadline, process: Uuid::new_v4(), made: 0, unanswered: VecDeque::new() }
    }

    /// Takes due notifications, of each channel at most so many, and says until when they may be sent.
    pub(crate) async fn take(
        &mut self,
        free: &[(Channel, i64)],
    ) -> Result<(Vec<Claimed>, Deadline), ClaimError> {
        self.made += 1;
        let claim = format!("{}/{}", self.process.simple(), self.made);
        // Before the transaction, so that it is never later than the row's own deadline.
        let deadline = Deadline::after(self.send_deadline);
        let taken = self.take_as(&claim, free).await;
        if matches!(taken, Err(ClaimError::Unanswered(_))) {
            self.remember(claim);
        }
        Ok((taken?, deadline))
    }

    async fn take_as(&self, claim: &str, free: &[(Channel, i64)]) -> Result<Vec<Claimed>, ClaimError> {
        let limit = Duration::from_millis(CLAIM_TIMEOUT_MS);
        let (mut connection, mut committing) = (None, false);
        let taking = async {
            let client = connection.insert(self.pool.get().await?);
            let transaction = client.transaction().await.map_err(StoreError::from)?;
            let bound = Duration::from_millis(CLAIM_STATEMENT_TIMEOUT_MS);
            notification::bound_transaction(&*transaction, bound).await?;
            let claimed = notification::claim_due(&*transaction, claim, free, self.send_deadline).await?;
            committing = true;
            transaction.commit().await.map_err(StoreError::from)?;
            Ok(claimed)
        };
        let error = match timeout(limit, taking).await {
            Ok(Ok(claimed)) => return Ok(claimed),
            Ok(Err(error)) => error,
            Err(_elapsed) => ClaimError::Timeout,
        };
        // Closed, and not used again: without its commit the claim is over with its connection.
        drop(connection.map(Object::take));
        Err(if committing { ClaimError::Unanswered(Box::new(error)) } else { error })
    }

    /// Whether it is known of every claim what became of it.
    pub(crate) fn are_answered(&self) -> bool {
        self.unanswered.is_empty()
    }

    /// Keeps a claim's token: nothing of it was started, so whatever it took is surely unsent.
    fn remember(&mut self, claim: String) {
        if self.unanswered.len() == UNANSWERED_CLAIMS_MAX {
            self.unanswered.pop_front();
        }
        let until = Deadline::after(self.send_deadline + Duration::from_millis(SWEEP_GRACE_MS));
        self.unanswered.push_back(Unanswered { claim, until });
    }

    /// Makes due again what claims without an answer took. A claim that is not found may still be committing, so it is
    /// looked for again at the next call.
    pub(crate) async fn return_unanswered(&mut self) {
        if self.unanswered.is_empty() {
            return;
        }
        let evidence = json!({ "phase": "claim", "ending": "lost", "detail": "the claim had no answer" });
        let (pool, unanswered) = (&self.pool, &mut self.unanswered);
        let returning = async {
            let client = pool.get().await?;
            for _ in 0..unanswered.len() {
                let Some(one) = unanswered.front() else { break };
                // Before the look, so that the last look comes after the end.
                let over = one.until.has_passed();
                let returned = notification::return_unsent(&**client, &one.claim, &evidence).await?;
                if returned > 0 {
                    tracing::info!(returned, "a claim whose answer was lost is due again");
                }
                if returned > 0 || over {
                    unanswered.pop_front();
                } else {
                    unanswered.rotate_left(1);
                }
            }
            Ok::<(), ClaimError>(())
        };
        let returned = timeout(Duration::from_millis(RETURN_TIMEOUT_MS), returning).await;
        if !matches!(returned, Ok(Ok(()))) {
            tracing::debug!(claims = unanswered.len(), "claims without an answer could not be looked for");
        }
    }
}
