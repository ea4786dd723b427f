//! How an outbox stands: who relays it, how far, and what waits.
//!
//! Whatever is counted is counted up to a bound: a backlog of ten million rows must not make the question dear. Deliberately
//! absent: what is in flight, which only the active relay knows and measures.

mod backlog;
mod horizon;
mod oldest;

pub use backlog::{
    BATCHES_LOOKED_AT_MAX, HOLDS_SHOWN_MAX, HeldRows, RATE_SECONDS, ROWS_COUNTED_MAX, StandingHold, Waiting,
    holds, rate, waiting,
};
pub use horizon::{Horizon, HorizonWatch, horizon};
pub use oldest::oldest;

use std::time::Duration;

use jiff::Timestamp;
use tokio_postgres::GenericClient;

use crate::parked::ParkedError;
use crate::window::{Identity, Snapshot, Window};

/// Who relays an outbox and how far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Who holds the lease, or held it last; `None` once it was given back.
    pub holder: Option<String>,
    /// The fence of the last takeover.
    pub fence: i64,
    /// How long the lease still runs; zero when anybody may take it.
    pub lease_remaining: Duration,
    /// Where the relay stands.
    pub window: Window,
    /// The server that the window is of; `None` before the first relay.
    pub identity: Option<Identity>,
    /// When the cursor moved last.
    pub moved_at: Timestamp,
    /// When this was so, by the database's clock.
    pub asked_at: Timestamp,
    /// The transactions that had ended then.
    pub ended_by_then: Snapshot,
}

impl Position {
    /// How long before the question a moment was; nothing for one after it.
    #[must_use]
    pub fn age_of(&self, at: Timestamp) -> Duration {
        Duration::try_from(self.asked_at.duration_since(at)).unwrap_or_default()
    }
}

/// Who relays the outbox and how far. `None`: its cursor is gone.
///
/// # Errors
/// [`ParkedError`].
pub async fn position(db: &impl GenericClient) -> Result<Option<Position>, ParkedError> {
    let found = db.query_typed_opt(include_str!("status/position.sql"), &[]).await?;
    found
        .map(|row| {
            let remaining_seconds: f64 = row.try_get("remaining_seconds")?;
            let identity = match (row.try_get("system_identifier")?, row.try_get("timeline")?) {
                (Some(system_identifier), Some(timeline)) => Some(Identity { system_identifier, timeline }),
                _ => None,
            };
            Ok(Position {
                holder: row.try_get("holder")?,
                fence: row.try_get("fence")?,
                lease_remaining: Duration::try_from_secs_f64(remaining_seconds).unwrap_or_default(),
                window: Window {
                    from: row.try_get("from_snapshot")?,
                    to: row.try_get("to_snapshot")?,
                    after_seq: row.try_get("after_seq")?,
                    floor_seq: row.try_get("floor_seq")?,
                    resend_after_seq: row.try_get("resend_after_seq")?,
                },
                identity,
                moved_at: row.try_get("moved_at")?,
                asked_at: row.try_get("asked_at")?,
                ended_by_then: row.try_get("ended_by_then")?,
            })
        })
        .transpose()
}
