//! How long to wait before the next try.

use std::time::Duration;

/// Doubles from `first` to `most`, until a success resets it.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Backoff {
    /// A backoff whose first wait is `first`.
    pub(crate) const fn new(first: Duration, most: Duration) -> Self {
        Self { first, most, next: first }
    }

    /// The wait before the next try.
    pub(crate) fn next(&mut self) -> Duration {
        let wait = self.next;
        self.next = wait.saturating_mul(2).min(self.most);
        wait
    }

    /// After a success.
    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_most_and_start_again_after_a_success() {
        let seconds = Duration::from_secs;
        let mut backoff = Backoff::new(seconds(1), seconds(5));
        assert_eq!([(); 4].map(|()| backoff.next()), [1, 2, 4, 5].map(seconds));
        backoff.reset();
        assert_eq!(backoff.next(), seconds(1));
    }
}
