//! Waits that end: with what was waited for, or with a panic that says what it was.

use std::future::Future;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};

/// The longest that any wait of a test lasts. Generous, because it only bounds a failure: two cores, many processes.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// How often a condition that sends no signal is looked at again.
const LOOK_INTERVAL: Duration = Duration::from_millis(25);

/// The outcome of `future`, or a panic that names `what` after [`WAIT_MAX`].
///
/// # Panics
/// When the future has not ended in time.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = timeout(WAIT_MAX, future).await;
    waited.unwrap_or_else(|_| panic!("waited {} s in vain for {what}", WAIT_MAX.as_secs()))
}

/// Looks until `look` gives something, and gives it. For state that no signal tells of, such as a row that another
/// process will write.
///
/// # Panics
/// When nothing came within [`WAIT_MAX`].
pub async fn eventually<T, F>(what: &str, mut look: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let mut ticks = interval(LOOK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    within(what, async {
        loop {
            ticks.tick().await;
            if let Some(found) = look().await {
                return found;
            }
        }
    })
    .await
}
