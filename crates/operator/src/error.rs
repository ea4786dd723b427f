//! Why there is no answer.

use waybill_outbox::parked::ParkedError;

use crate::refusal::Refusal;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The answer is no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The one row of the cursor was deleted by hand.
    #[error("the outbox has no cursor")]
    CursorMissing,
    /// The outbox could not be read or changed.
    #[error(transparent)]
    Outbox(#[from] ParkedError),
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Outbox(error.into())
    }
}
