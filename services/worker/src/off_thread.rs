//! Work for a processor, on threads that may be busy: the tasks of this process go on meanwhile, heartbeats first of all.

use tokio::task::JoinError;

use crate::attempt_error::AttemptError;

/// Runs `work` where it holds nobody up. Whoever stops waiting leaves it to its end, which is never far: it is given one
/// bounded piece at a time.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AttemptError> + Send + 'static,
) -> Result<T, AttemptError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(ended(error)),
    }
}

/// A panic goes on where it would have gone without a thread of its own; otherwise the process is about to end.
fn ended(error: JoinError) -> AttemptError {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_cancelled) => AttemptError::Stopped,
    }
}
