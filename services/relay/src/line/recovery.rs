//! What follows from a failure: what it was about, a new producer, and what is said of it.

use rdkafka::error::{KafkaError, KafkaResult};
use tokio::time::{Instant, sleep};

use super::wait::Wait;
use super::{KAFKA, Line, STALLED_AFTER};
use crate::codes;
use crate::delivery::{Cause, Failed, Failure, Trouble};
use crate::metrics;
use crate::producer::Producer;
use crate::topics;

/// What is known after a producer's end.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// The topics that take nothing.
    pub(crate) topics: Vec<(String, Trouble, String)>,
    /// The row that was refused alone.
    pub(crate) row: Option<(i64, String)>,
    /// Whether nothing failed: something only has to be looked at again.
    is_suspicion: bool,
    failed: Option<Failed>,
}

impl Aftermath {
    /// Whether a row may have been refused that was not sent alone: alone it will show.
    pub(crate) fn may_be_refused(&self) -> bool {
        self.failed.as_ref().is_some_and(|failed| Cause::of(&failed.error) == Cause::Refused)
    }
}

impl Line {
    /// Says that a topic takes nothing, however that was found; the line starts over without it.
    pub(crate) fn condemn(&mut self, lane: usize, trouble: Trouble, detail: String) {
        self.failure.condemn(lane, trouble, detail);
    }

    /// Has a topic asked for before its next row, and what is in flight sent again by another producer: something about it is
    /// not as it was.
    pub(crate) fn doubt(&mut self, lane: usize) {
        self.topics.forget(lane);
        self.failure.suspect();
    }

    /// Notes that a row was not delivered.
    pub(super) fn failed(&mut self, seq: i64, lane: Option<usize>, error: KafkaError) {
        if let (Cause::Outdated, Some(lane)) = (Cause::of(&error), lane) {
            self.topics.forget(lane);
        }
        self.failure.note(seq, lane, error);
    }

    /// Looks for topics that stand still while others do not, and for a producer that has been waited for too long.
    pub(crate) fn find_stalled(&mut self) {
        let now = Instant::now();
        if self.wait.is_too_long(self.flight.lowest_seq(), now) {
            self.failure.suspect();
        }
        for lane in self.topics.stalled(now) {
            let last = self.producer.last_error().unwrap_or_else(|| "no error was reported".to_owned());
            let detail =
                format!("nothing was acknowledged for {} s; {last}", topics::STALLED_AFTER.as_secs());
            self.failure.condemn(lane, Trouble::Stalled, detail);
        }
    }

    /// Whether nothing was acknowledged for long though rows are in flight.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// After a failed delivery: takes back what is under way, discards the producer and makes another one. What was settled
    /// stays so; everything after it is to be read and sent again, once the caller has dealt with what is answered.
    pub(crate) async fn start_over(&mut self) -> KafkaResult<Aftermath> {
        for report in self.producer.purge().await {
            self.take(report);
        }
        metrics::count(&metrics::FAILURES, &self.options.outbox, 1);
        let Failure { first, last_seq, topics, is_suspicion, .. } = std::mem::take(&mut self.failure);
        let is_alone = |failed: &Failed| self.alone == Some(failed.seq) && self.alone_until.is_some();
        let row = first
            .as_ref()
            .filter(|failed| Cause::of(&failed.error) == Cause::Refused && is_alone(failed))
            .map(|failed| (failed.seq, failed.error.to_string()));
        if first.is_some() || (topics.is_empty() && !is_suspicion) {
            let suspect = last_seq.max(self.flight.lowest_seq().unwrap_or(0));
            self.alone_until = Some(suspect.max(self.alone_until.unwrap_or(0)));
        }
        let name = |(lane, trouble, detail)| (self.topics.name(lane).to_owned(), trouble, detail);
        let topics = topics.into_iter().map(name).collect();
        self.clear();
        self.topics.begin();
        self.need = None;
        self.is_silent = false;
        self.wait = Wait::for_nothing();
        let discarded =
            std::mem::replace(&mut self.producer, Producer::start(&self.settings, &self.options)?);
        discarded.discard().await;
        Ok(Aftermath { topics, row, is_suspicion, failed: first })
    }

    /// Says what failed and waits a while, if nothing was held that would let the rest go on.
    pub(crate) async fn wait_after(&mut self, aftermath: &Aftermath) {
        if aftermath.is_suspicion && aftermath.failed.is_none() {
            return self.pause().await;
        }
        let (code, detail) = match &aftermath.failed {
            Some(Failed { seq, error }) if aftermath.row.is_some() => {
                (codes::RELAY_HOLDS_FULL, format!("row {seq} of the outbox: {error}"))
            }
            Some(Failed { seq, error }) => (codes::RELAY_DELIVERY_FAILING, self.explain(*seq, error)),
            None if aftermath.topics.is_empty() => {
                (codes::RELAY_DELIVERY_FAILING, "the producer stopped".to_owned())
            }
            None => (codes::RELAY_HOLDS_FULL, "a topic takes nothing".to_owned()),
        };
        self.fail(code, detail);
        self.pause().await;
    }

    /// Waits a while, longer each time until something is acknowledged.
    pub(crate) async fn pause(&mut self) {
        tokio::select! {
            () = sleep(self.retry.next()) => {}
            () = self.shutdown.cancelled() => {}
        }
    }

    /// Says that Kafka does not take what is sent.
    pub(crate) fn fail(&mut self, code: &str, detail: String) {
        self.is_failing = true;
        self.health.degraded(KAFKA, code, detail);
    }

    /// Takes that back: what failed is held, or was acknowledged.
    pub(crate) fn calm(&mut self) {
        if std::mem::take(&mut self.is_failing) {
            self.health.clear(KAFKA);
        }
    }

    /// Nothing was acknowledged for [`STALLED_AFTER`].
    pub(super) fn stall(&mut self) {
        self.stalled_at = Instant::now() + STALLED_AFTER;
        if self.flight.unacknowledged() > 0 {
            let rows = self.flight.unacknowledged();
            let last = self.producer.last_error().unwrap_or_else(|| "no error was reported".to_owned());
            self.is_silent = true;
            let detail = format!("{rows} rows wait for their acknowledgement; {last}");
            self.fail(codes::RELAY_DELIVERY_FAILING, detail);
        }
    }

    fn explain(&self, seq: i64, error: &KafkaError) -> String {
        match self.producer.last_error() {
            Some(last) => format!("row {seq} of the outbox: {error}; {last}"),
            None => format!("row {seq} of the outbox: {error}"),
        }
    }
}
