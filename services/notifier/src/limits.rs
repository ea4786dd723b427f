//! What bounds one attempt: its deadline, and the process that is about to end.

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::boot_clock::Deadline;

/// The bounds of one attempt.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Until when bytes may leave.
    pub deadline: Deadline,
    /// Cancelled when the process can wait no longer: the attempt then ends where it stands, as if its connection had
    /// been lost.
    pub cut_off: CancellationToken,
}

/// Why work was cut off before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Cut {
    #[error("the deadline passed while the other side was silent")]
    Deadline,
    #[error("the process ended while the other side was silent")]
    ShutDown,
}

impl Limits {
    /// Lets work go on until one of the bounds is reached.
    pub(crate) async fn within<W: Future>(&self, work: W) -> Result<W::Output, Cut> {
        let left = self.deadline.remaining().ok_or(Cut::Deadline)?;
        tokio::select! {
            done = timeout(left, work) => done.map_err(|_elapsed| Cut::Deadline),
            () = self.cut_off.cancelled() => Err(Cut::ShutDown),
        }
    }
}
