//! The relay's side: a durable window between two snapshots, under a lease and a fence.
//!
//! The rows of a window are those that `to` sees and `from` does not. They go out in the order of `seq`, and `after_seq`
//! lets a restart resume in the middle. Neither a late commit of a low `seq` is lost that way, nor does anybody's long
//! transaction hold back or hide a row.
//!
//! Deliberately absent: a cursor that is an id, a horizon that is somebody's oldest transaction, a snapshot that we cut
//! ourselves, and every decision about Kafka.

mod flight;
mod identity;
mod lease;
mod page;
mod position;
mod reading;
mod snapshot;
mod statements;

pub use flight::{Flight, Held, Move, PARKED_ROWS_A_MOVE_MAX, Settled, next_move};
pub use identity::Identity;
pub use lease::{LEASE_CHANNEL, Standing, acquire, announce_release, release, renew, standing};
pub use page::{Page, PageEnd, PageLimits, Record, Row, Survey};
pub use position::{Batch, Window};
pub use reading::{BY_XID_PAGES_MAX, Method, Reading, Step};
pub use snapshot::{ParseSnapshotError, Snapshot, Xid};
pub use statements::Statements;

use std::time::Duration;

/// What an active relay holds: the fence that its every write names, and the window that it works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// One more with every takeover. A write with an older fence changes nothing.
    pub fence: i64,
    /// The server that gave the lease. On another one the window means nothing.
    pub identity: Identity,
    /// Where the relay stands.
    pub window: Window,
}

/// Why a cursor could not be read or moved.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// Zero rows changed: another relay has taken over, or the window is not the one that the caller knows.
    #[error("fence {fence} of the outbox is no longer the current one")]
    Fenced {
        /// The fence that the caller held.
        fence: i64,
    },
    /// The connection's schema has no outbox: it was never installed there.
    #[error("there is no outbox in this schema")]
    Missing,
    /// The server is not the one whose transactions the window counts: nothing may be sent or moved by it.
    #[error("the cursor is of another database: it was written under {known}, and {found} answers")]
    DatabaseChanged {
        /// The server that the cursor is of.
        known: Identity,
        /// The server that answers.
        found: Identity,
    },
    /// The database failed. Whether a write took place is unknown: load the cursor again.
    #[error("the outbox cursor could not be read or moved")]
    Database(#[from] tokio_postgres::Error),
}

/// A duration as Postgres' `make_interval(secs => …)` takes it.
fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}
