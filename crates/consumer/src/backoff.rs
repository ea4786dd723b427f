//! The wait between two tries.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

const FIRST_WAIT: Duration = Duration::from_millis(100);

/// Waits that double up to a bound.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Duration,
    next: Duration,
    max: Duration,
}

impl Backoff {
    pub(crate) fn new(max: Duration) -> Self {
        Self::starting_at(FIRST_WAIT, max)
    }

    pub(crate) fn starting_at(first: Duration, max: Duration) -> Self {
        let first = first.min(max);
        Self { first, next: first, max }
    }

    /// The wait of the next try is the first one again.
    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }

    fn step(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(self.max);
        wait
    }

    /// Waits, and answers whether to go on: `false` once `cancel` was called.
    pub(crate) async fn wait(&mut self, cancel: &CancellationToken) -> bool {
        let wait = self.step();
        cancel.run_until_cancelled(tokio::time::sleep(wait)).await.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Backoff, FIRST_WAIT};

    #[test]
    fn waits_double_to_a_bound_and_begin_again_after_a_success() {
        let mut backoff = Backoff::new(Duration::from_millis(350));
        let waits: Vec<_> = (0..4).map(|_| backoff.step().as_millis()).collect();
        assert_eq!(waits, [100, 200, 350, 350]);
        backoff.reset();
        assert_eq!(backoff.step(), FIRST_WAIT);
    }
}
