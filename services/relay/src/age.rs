//! How long the oldest row has waited that the cursor has not passed: as the last look found it, and on from there as long as
//! nobody can look.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::metrics;

/// What one relay knows of its outbox, also while it stands by because the database does not answer.
#[derive(Debug)]
pub(crate) struct OldestAge {
    outbox: Arc<str>,
    /// When it was looked up last, and how old the row was. Nothing: none waited, or another relay knows.
    seen: Option<(Instant, Duration)>,
}

impl OldestAge {
    /// Of an outbox of which nothing is known.
    pub(crate) fn of(outbox: &Arc<str>) -> Self {
        Self { outbox: Arc::clone(outbox), seen: None }
    }

    /// Notes what a look found.
    pub(crate) fn saw(&mut self, age: Option<Duration>) {
        self.seen = age.map(|age| (Instant::now(), age));
        self.show();
    }

    /// Nobody could look: no cursor moves meanwhile, so whatever waited then is as much older now.
    pub(crate) fn grow(&self) {
        self.show();
    }

    /// Another relay looks now, or nobody need.
    pub(crate) fn forget(&mut self) {
        self.saw(None);
    }

    fn show(&self) {
        let age = grown(self.seen, Instant::now()).unwrap_or_default();
        metrics::set(&metrics::OLDEST_AGE, &self.outbox, age.as_secs_f64());
    }
}

fn grown(seen: Option<(Instant, Duration)>, now: Instant) -> Option<Duration> {
    seen.map(|(at, age)| age + now.saturating_duration_since(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waited_when_it_was_seen_grows_older_and_what_did_not_wait_does_not() {
        let (at, seconds) = (Instant::now(), Duration::from_secs);
        assert_eq!(grown(Some((at, seconds(5))), at), Some(seconds(5)));
        assert_eq!(grown(Some((at, seconds(5))), at + seconds(60)), Some(seconds(65)));
        assert_eq!(grown(None, at + seconds(60)), None);
    }
}
