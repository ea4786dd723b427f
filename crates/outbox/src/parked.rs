//! The operator's side of what is parked: the rows that the cursor passed and Kafka did not acknowledge.
//!
//! A person looks at them, has them sent once more, or discards them. Deliberately absent: sending, which only the active
//! relay does, and deleting: a discarded row stays, with who discarded it and why.

mod bulk;
mod decision;
mod row;

pub use bulk::{Matching, ROWS_DECIDED_MAX, decide_matching};
pub use decision::{Change, Decided, Decision, Rejection, Verb, decide, judge};
pub use row::{
    BEHIND_COUNTED_MAX, Filter, Hold, Listed, PAYLOAD_BYTES_SHOWN_MAX, Place, Shown, State, settled, show,
    undecided,
};

pub(crate) use row::scope_of;

use tokio_postgres::GenericClient;

/// Why nothing can be said or done about parked rows.
#[derive(Debug, thiserror::Error)]
pub enum ParkedError {
    /// A stored word that this version does not know.
    #[error("an unknown {what} is stored: {word:?}")]
    Unknown {
        /// What the word should say.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// The database failed.
    #[error("the parked rows could not be read or changed")]
    Database(#[from] tokio_postgres::Error),
}

/// Lets the unqualified names of this crate's statements mean the outbox in `schema`, until the transaction ends.
///
/// # Errors
/// The database failed.
pub async fn look_into(tx: &impl GenericClient, schema: &str) -> Result<(), tokio_postgres::Error> {
    tx.execute(include_str!("parked/look_into.sql"), &[&schema]).await?;
    Ok(())
}
