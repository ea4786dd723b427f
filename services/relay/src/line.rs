//! The sending side of an active relay: what is to be sent, what is in flight, and what follows from a failure.

mod behind;
mod recovery;
mod wait;

use std::collections::VecDeque;
use std::time::Duration;

use rdkafka::error::KafkaResult;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use waybill_fault_points::{Point, reach};
use waybill_outbox::window::{Flight, Held, PARKED_ROWS_A_MOVE_MAX, Page, Row};
use waybill_runtime::{Context, Health};

use crate::backoff::Backoff;
use crate::delivery::{Cause, Failure, Report};
use crate::holds::{Holds, Way};
use crate::metrics;
use crate::options::Options;
use crate::producer::{NotQueued, Producer};
use crate::topics::{Target, Topics};

use self::behind::Behind;
use self::wait::Wait;

pub(crate) use recovery::Aftermath;

/// The component of health that Kafka is.
const KAFKA: &str = "kafka";

/// The waits before a producer is made again.
const RETRY: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(10));

/// So long without an acknowledgement while rows are in flight means that Kafka does not take them.
const STALLED_AFTER: Duration = Duration::from_secs(10);

/// So many rows are handed over at a time; then whatever else is due has its turn.
const PUMP_ROWS_MAX: usize = 128;

/// No page is read while so many held rows wait for the cursor to park them.
const HELD_ROWS_MAX: usize = 4 * PARKED_ROWS_A_MOVE_MAX;

/// What has to be known or written before the next row can be dealt with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Need {
    /// Which topic that is: nothing was sent to it yet.
    Topic(String),
    /// A hold for this row, because the producer will not have it.
    Row { seq: i64, detail: String },
}

/// What became of a row that was to be handed over.
enum Handed {
    /// The producer has it.
    Over,
    /// It is held, and the cursor parks it.
    By,
    /// It was not its turn.
    Back(Row),
}

/// The rows between the window, or a hold, and Kafka.
pub(crate) struct Line {
    settings: Vec<(String, String)>,
    options: Options,
    health: Health,
    shutdown: CancellationToken,
    producer: Producer,
    flight: Flight,
    /// The topics that rows were seen for.
    pub(crate) topics: Topics,
    /// What is held.
    pub(crate) holds: Holds,
    /// The rows are a hold's own: they are sent though they are held.
    is_draining: bool,
    need: Option<Need>,
    unsent: VecDeque<Row>,
    unsent_bytes: u64,
    behind: Behind,
    failure: Failure,
    /// Up to this row one record a request: one of them failed, and only alone it shows which.
    alone_until: Option<i64>,
    /// The last row that was sent with no other in flight.
    alone: Option<i64>,
    retry: Backoff,
    stalled_at: Instant,
    /// The producer's queue took nothing more.
    is_full: bool,
    is_failing: bool,
    /// Nothing was acknowledged for long: then rows are not sent alone, so that other topics can show that they flow.
    is_silent: bool,
    /// How long this producer has been waited for.
    wait: Wait,
}

impl Line {
    /// A line with a new producer and nothing on it.
    pub(crate) fn start(context: &Context, options: &Options) -> KafkaResult<Self> {
        let settings = context.kafka_settings();
        Ok(Self {
            producer: Producer::start(&settings, options)?,
            settings,
            options: options.clone(),
            health: context.health.clone(),
            shutdown: context.shutdown.clone(),
            flight: Flight::default(),
            topics: Topics::default(),
            holds: Holds::default(),
            is_draining: false,
            need: None,
            unsent: VecDeque::new(),
            unsent_bytes: 0,
            behind: Behind::default(),
            failure: Failure::default(),
            alone_until: None,
            alone: None,
            retry: RETRY,
            stalled_at: Instant::now() + STALLED_AFTER,
            is_full: false,
            is_failing: false,
            is_silent: false,
            wait: Wait::for_nothing(),
        })
    }

    /// What is in flight.
    pub(crate) fn flight(&self) -> &Flight {
        &self.flight
    }

    /// Notes that the cursor passed what was settled up to this row.
    pub(crate) fn passed(&mut self, last_seq: i64) {
        self.flight.passed(last_seq);
        if !self.is_draining {
            self.holds.passed(last_seq);
        }
    }

    /// Whether nothing is on the line: all that was taken in is behind the cursor.
    pub(crate) fn is_clear(&self) -> bool {
        self.unsent.is_empty() && self.flight.rows() == 0 && self.flight.settled().batch().is_none()
    }

    /// From now on the rows are a hold's own. Answers what [`Self::leave_hold`] wants.
    pub(crate) fn enter_hold(&mut self) -> Option<i64> {
        self.is_draining = true;
        self.is_silent = false;
        self.alone_until.take()
    }

    /// From now on the rows are the window's again.
    pub(crate) fn leave_hold(&mut self, alone_until: Option<i64>) {
        self.forget();
        self.flight.passed(i64::MAX);
        self.is_draining = false;
        self.alone_until = alone_until;
        self.need = None;
    }

    /// Whether what was acknowledged is to be noted: at the end of what is in flight at once, before it in steps.
    pub(crate) fn has_settled(&self) -> bool {
        let settled = self.flight.settled();
        settled.events > 0 && (self.flight.rows() == 0 || settled.events >= self.step_rows())
    }

    /// Forgets what was taken in and not handed over.
    pub(crate) fn drop_unsent(&mut self) {
        self.unsent.clear();
        self.unsent_bytes = 0;
    }

    /// What has to be known or written before the next row.
    pub(crate) fn need(&self) -> Option<&Need> {
        self.need.as_ref()
    }

    /// Notes that it is.
    pub(crate) fn met(&mut self) {
        self.need = None;
    }

    /// Whether every row that was taken in was handed to the producer.
    pub(crate) fn is_pumped(&self) -> bool {
        self.unsent.is_empty()
    }

    /// The cursor moves in steps of so many rows: a page, and each single one while they are sent alone, because that
    /// takes long and whoever takes over should not repeat it.
    pub(crate) fn step_rows(&self) -> i32 {
        if self.alone_until.is_some() { 1 } else { self.options.step_rows() }
    }

    /// Whether another page fits beside what waits and what is in flight.
    pub(crate) fn has_room(&self) -> bool {
        self.unsent.len() + self.flight.rows() <= self.options.flight_rows_max()
            && self.unsent_bytes + self.flight.bytes() < self.options.flight_bytes_max()
            && self.flight.settled().held < HELD_ROWS_MAX
            && self.flight.settled().events < self.options.settled_rows_max()
    }

    /// Whether something can be done without waiting: rows handed over, or a failure dealt with.
    pub(crate) fn is_ready(&self) -> bool {
        let can_send = || (!self.unsent.is_empty() && self.may_send()) || self.next_behind().is_some();
        self.failure.is_seen() || (!self.is_full && can_send())
    }

    /// Takes in the next rows of the window.
    pub(crate) fn take_in(&mut self, page: Page) {
        self.unsent_bytes += page.bytes();
        self.unsent.extend(page.rows);
    }

    /// Hands over what may be handed over now, and passes by what is held, up to [`PUMP_ROWS_MAX`].
    pub(crate) fn pump(&mut self) {
        let mut sent_bytes = 0;
        self.follow();
        for _ in 0..PUMP_ROWS_MAX {
            if self.is_full || !self.may_send() {
                break;
            }
            let Some(row) = self.unsent.pop_front() else { break };
            let (seq, bytes) = (row.seq, row.bytes);
            match self.hand_over(row) {
                Handed::Over => sent_bytes += bytes,
                Handed::By => {}
                Handed::Back(row) => {
                    self.unsent.push_front(row);
                    break;
                }
            }
            self.unsent_bytes -= bytes;
            tracing::trace!(outbox.seq = seq, "handed over");
        }
        if sent_bytes > 0 {
            reach(Point::RelaySent);
            metrics::count(&metrics::BYTES, &self.options.outbox, sent_bytes);
        }
    }

    /// Gives the producer the rows that waited for their partition, up to [`PUMP_ROWS_MAX`]. They count as handed over.
    pub(crate) fn follow(&mut self) {
        self.is_full = false;
        let now = Instant::now();
        for _ in 0..PUMP_ROWS_MAX {
            let Some(target) = self.next_behind().filter(|_| !self.failure.is_seen()) else { break };
            let Some(row) = self.behind.first(target) else { break };
            let seq = row.seq;
            // It was a record when it came here; alone it will show what it is.
            let sent = match row.record() {
                Ok(record) => self.producer.send(seq, target.partition, record),
                Err(_no_text) => Err(NotQueued::invalid()),
            };
            match sent {
                Ok(()) => {
                    self.topics.sent(target, now);
                    self.behind.pop(target);
                }
                Err(NotQueued::Full) => {
                    self.is_full = true;
                    break;
                }
                Err(NotQueued::Failed(error)) => self.failed(seq, Some(target.lane), error),
            }
        }
    }

    fn next_behind(&self) -> Option<Target> {
        let now = Instant::now();
        self.behind.find(|target| self.topics.may_send(target, now))
    }

    fn hand_over(&mut self, row: Row) -> Handed {
        let (seq, bytes) = (row.seq, row.bytes);
        let Ok(record) = row.record() else {
            // Only a database of another encoding holds such a text.
            self.need =
                Some(Need::Row { seq, detail: "its topic or a header's name is no UTF-8".to_owned() });
            return Handed::Back(row);
        };
        if !self.is_draining
            && !self.holds.is_empty()
            && let Way::Held { hold_id, is_refused } = self.holds.way(seq, record.topic, record.key)
        {
            self.flight.held(Held { seq, hold_id, is_refused }, bytes);
            return Handed::By;
        }
        let lane = self.topics.lane(record.topic);
        if !self.topics.is_known(lane) {
            self.need = Some(Need::Topic(record.topic.to_owned()));
            return Handed::Back(row);
        }
        let now = Instant::now();
        let target = self.topics.target(lane, record.key, seq);
        if self.behind.has(target) || !self.topics.may_send(target, now) {
            self.wait_for(lane, seq, bytes, now);
            self.behind.push(target, row);
            return Handed::Over;
        }
        match self.producer.send(seq, target.partition, record) {
            Ok(()) => {
                self.wait_for(lane, seq, bytes, now);
                self.topics.sent(target, now);
                return Handed::Over;
            }
            Err(NotQueued::Full) => self.is_full = true,
            Err(NotQueued::Failed(error)) if Cause::of(&error) == Cause::Refused => {
                self.need = Some(Need::Row { seq, detail: error.to_string() });
            }
            Err(NotQueued::Failed(error)) => self.failed(seq, Some(lane), error),
        }
        Handed::Back(row)
    }

    /// Notes that a row is in flight.
    fn wait_for(&mut self, lane: usize, seq: i64, bytes: u64, now: Instant) {
        let is_first = self.flight.unacknowledged() == 0;
        if is_first {
            self.stalled_at = now + STALLED_AFTER;
        }
        self.alone = is_first.then_some(seq);
        self.topics.waits(lane, now);
        self.flight.sent(seq, bytes, lane);
    }

    fn may_send(&self) -> bool {
        let is_held_back = self.alone_until.is_some() && self.flight.unacknowledged() > 0 && !self.is_silent;
        !is_held_back && self.need.is_none() && !self.failure.is_seen()
    }

    /// Takes every report that is there, and answers whether a delivery failed.
    pub(crate) fn absorb(&mut self) -> bool {
        while let Some(report) = self.producer.try_report() {
            self.take(report);
        }
        self.measure();
        self.failure.is_seen()
    }

    /// Waits for a report and takes it. Returns without one when Kafka is found silent. Cancel safe.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            report = self.producer.report() => {
                if let Some(report) = report {
                    self.take(report);
                }
            }
            () = sleep_until(self.stalled_at) => self.stall(),
        }
    }

    /// Gives up on all rows that are not settled, sent or not. If the producer has any of them, another one takes its place:
    /// what a partition may be sent hangs on knowing what is in flight to it.
    pub(crate) fn forget(&mut self) {
        if self.producer.is_busy() {
            self.failure.suspect();
        }
        self.clear();
    }

    fn clear(&mut self) {
        self.flight.abandon();
        self.topics.abandon();
        self.behind.clear();
        self.drop_unsent();
    }

    /// Sends nothing more, in a bounded time.
    pub(crate) async fn end(mut self) {
        self.producer.purge().await;
        self.clear();
        self.measure();
        self.health.clear(KAFKA);
        self.producer.discard().await;
    }

    fn take(&mut self, report: Report) {
        let Report { seq, outcome } = report;
        let lane = self.flight.lane(seq);
        let place = match outcome {
            Ok(place) => place,
            Err(error) => return self.failed(seq, lane, error),
        };
        let Some(lane) = lane else { return };
        let now = Instant::now();
        if !self.topics.acknowledged(lane, place, now) {
            // Another topic of that name may have it, or none. Which topic it is has to be asked before the row counts as sent.
            return self.doubt(lane);
        }
        self.flight.acknowledged(seq);
        self.stalled_at = now + STALLED_AFTER;
        self.is_silent = false;
        self.retry.reset();
        self.calm();
        let settled = self.flight.settled().last_seq;
        if self.alone_until.is_some_and(|until| until <= settled) {
            self.alone_until = None;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
    fn measure(&self) {
        let outbox = &self.options.outbox;
        metrics::set(&metrics::IN_FLIGHT_ROWS, outbox, self.flight.rows() as f64);
        metrics::set(&metrics::IN_FLIGHT_BYTES, outbox, self.flight.bytes() as f64);
    }
}
