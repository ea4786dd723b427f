//! How long after its commit an event was acknowledged: the same question to the same clock for everybody.
//!
//! The commit is the moment when its writer had the answer. The acknowledgement is the moment when the broker appended
//! the record, which with one replica is when it acknowledges: it writes that time into the record (`LogAppendTime`), so
//! nobody has to look on and take processor time from what is measured. The time has whole milliseconds and is rounded
//! up.

use anyhow::{Context, Result};
use rdkafka::Message;

use super::event::Event;
use super::writers::Commits;
use crate::topic::Topic;

/// The first tenth of a round is not counted.
const WARM_UP_PART: u64 = 10;

/// Milliseconds of a round's events, ascending.
#[derive(Debug)]
pub(crate) struct Latencies(Vec<f64>);

impl Latencies {
    /// Reads the topic, which holds all of them.
    pub(crate) fn read(topic: &Topic, commits: &Commits, events: u64) -> Result<Self> {
        let mut appended = vec![None; usize::try_from(events)?];
        let mut missing = events;
        topic.read(|record| {
            let number = record.payload().and_then(Event::number_of);
            let entry = number.and_then(|number| appended.get_mut(usize::try_from(number).ok()?));
            // A record that came twice counts from its first time.
            if let Some(entry @ None) = entry {
                *entry = record.timestamp().to_millis();
                missing -= 1;
            }
            missing > 0
        })?;
        let counted = (0..events).zip(appended).filter(|(number, _)| *number >= events / WARM_UP_PART);
        let latency = |(number, appended): (u64, Option<i64>)| {
            let committed = commits.at(number).context("an event that was never committed was sent")?;
            Ok(milliseconds(committed, appended.context("a record without a time")?))
        };
        let mut latencies = counted.map(latency).collect::<Result<Vec<f64>>>()?;
        latencies.sort_by(f64::total_cmp);
        Ok(Self(latencies))
    }

    /// The latency in milliseconds that so many percent do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }
}

/// A record can be appended before its writer has the answer.
#[expect(clippy::cast_precision_loss, reason = "differences of times are far below 2^52 us")]
fn milliseconds(committed_us: i64, appended_ms: i64) -> f64 {
    ((appended_ms + 1) * 1000 - committed_us).max(0) as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_latency_that_was_seen() {
        let latencies = Latencies((1..=200).map(f64::from).collect());
        assert_eq!([50, 99, 100].map(|percent| latencies.percentile(percent)), [100.0, 198.0, 200.0]);
        assert_eq!(Latencies(vec![7.0]).percentile(99), 7.0);
    }

    #[test]
    fn a_latency_is_rounded_up_to_the_brokers_milliseconds_and_never_negative() {
        assert_eq!(milliseconds(10_000_250, 10_003), 3.75);
        assert_eq!(milliseconds(10_009_000, 10_003), 0.0);
    }
}
