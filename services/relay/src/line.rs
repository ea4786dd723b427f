//! The sending side of an active relay: what is to be sent, what is in flight, and what follows from a failure.

use std::collections::VecDeque;
use std::time::Duration;

use rdkafka::error::{KafkaError, KafkaResult};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use waybill_outbox::window::{Flight, Page, Row};
use waybill_runtime::{Context, Health};

use crate::backoff::Backoff;
use crate::codes;
use crate::delivery::{Cause, Failure, Report};
use crate::metrics;
use crate::options::Options;
use crate::producer::{NotQueued, Producer};

/// The component of health that Kafka is.
const KAFKA: &str = "kafka";

/// The waits before a producer is made again.
const RETRY: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(10));

/// So long without an acknowledgement while rows are in flight means that Kafka does not take them.
const STALLED_AFTER: Duration = Duration::from_secs(10);

/// So many rows are handed over at a time; then whatever else is due has its turn.
const PUMP_ROWS_MAX: usize = 128;

/// The rows between the window and Kafka.
pub(crate) struct Line {
    settings: Vec<(String, String)>,
    options: Options,
    health: Health,
    shutdown: CancellationToken,
    producer: Producer,
    flight: Flight,
    unsent: VecDeque<Row>,
    unsent_bytes: u64,
    failure: Failure,
    /// Up to this row one record a request: one of them failed, and only alone it shows which.
    alone_until: Option<i64>,
    retry: Backoff,
    stalled_at: Instant,
    /// The producer's queue took nothing more.
    is_full: bool,
    is_failing: bool,
    /// For each page that has rows left, its last row and when its first one came to be.
    ages: VecDeque<(i64, Instant)>,
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
            unsent: VecDeque::new(),
            unsent_bytes: 0,
            failure: Failure::default(),
            alone_until: None,
            retry: RETRY,
            stalled_at: Instant::now() + STALLED_AFTER,
            is_full: false,
            is_failing: false,
            ages: VecDeque::new(),
        })
    }

    /// What is in flight.
    pub(crate) fn flight(&self) -> &Flight {
        &self.flight
    }

    /// Notes that the cursor passed what was settled up to this row.
    pub(crate) fn passed(&mut self, last_seq: i64) {
        self.flight.passed(last_seq);
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
    }

    /// Whether something can be done without waiting: rows handed over, or a failure dealt with.
    pub(crate) fn is_ready(&self) -> bool {
        self.failure.is_seen() || (!self.unsent.is_empty() && !self.is_full && self.may_send())
    }

    /// Takes in the next rows of the window.
    pub(crate) fn take_in(&mut self, page: Page) {
        if let (Some(first), Some(last)) = (page.rows.first(), page.rows.last()) {
            let now = Instant::now();
            self.ages.push_back((last.seq, now.checked_sub(first.age).unwrap_or(now)));
        }
        self.unsent_bytes += page.bytes();
        self.unsent.extend(page.rows);
    }

    /// Hands over what may be handed over now, up to [`PUMP_ROWS_MAX`].
    pub(crate) fn pump(&mut self) {
        let mut sent_bytes = 0;
        self.is_full = false;
        for _ in 0..PUMP_ROWS_MAX {
            let Some(row) = self.unsent.front() else { break };
            if !self.may_send() {
                break;
            }
            match self.producer.send(row) {
                Ok(()) => {
                    if self.flight.unacknowledged() == 0 {
                        self.stalled_at = Instant::now() + STALLED_AFTER;
                    }
                    self.flight.sent(row.seq, row.bytes);
                    sent_bytes += row.bytes;
                    self.unsent.pop_front();
                }
                Err(NotQueued::Full) => {
                    self.is_full = true;
                    break;
                }
                Err(NotQueued::Failed(error)) => self.failure.note(row.seq, error),
            }
        }
        self.unsent_bytes -= sent_bytes;
        if sent_bytes > 0 {
            ::metrics::counter!(metrics::BYTES.name).increment(sent_bytes);
        }
    }

    fn may_send(&self) -> bool {
        let is_held_back = self.alone_until.is_some() && self.flight.unacknowledged() > 0;
        !is_held_back && !self.failure.is_seen()
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

    /// After a failed delivery: takes back what is under way, discards the producer, makes another one and waits a
    /// while. What was settled stays so; everything after it is to be read and sent again.
    pub(crate) async fn start_over(&mut self) -> KafkaResult<()> {
        for report in self.producer.purge().await {
            self.take(report);
        }
        ::metrics::counter!(metrics::FAILURES.name).increment(1);
        let failure = std::mem::take(&mut self.failure);
        self.degrade(&failure);
        let suspect = failure.last_seq.max(self.flight.lowest_seq().unwrap_or(0));
        self.alone_until = Some(suspect.max(self.alone_until.unwrap_or(0)));
        self.forget();
        let discarded =
            std::mem::replace(&mut self.producer, Producer::start(&self.settings, &self.options)?);
        discarded.discard().await;
        tokio::select! {
            () = sleep(self.retry.next()) => {}
            () = self.shutdown.cancelled() => {}
        }
        Ok(())
    }

    /// Gives up on all rows that are not settled, sent or not.
    pub(crate) fn forget(&mut self) {
        self.flight.abandon();
        self.unsent.clear();
        self.unsent_bytes = 0;
        self.ages.clear();
    }

    /// Sends nothing more, in a bounded time.
    pub(crate) async fn end(mut self) {
        self.producer.purge().await;
        self.forget();
        self.measure();
        self.health.clear(KAFKA);
        self.producer.discard().await;
    }

    fn take(&mut self, report: Report) {
        let Report { seq, error } = report;
        if let Some(error) = error {
            self.failure.note(seq, error);
            return;
        }
        self.flight.acknowledged(seq);
        self.stalled_at = Instant::now() + STALLED_AFTER;
        self.retry.reset();
        if std::mem::take(&mut self.is_failing) {
            self.health.clear(KAFKA);
        }
        let settled = self.flight.settled().last_seq;
        if self.alone_until.is_some_and(|until| until <= settled) {
            self.alone_until = None;
        }
        while self.ages.pop_front_if(|(last_seq, _)| *last_seq <= settled).is_some() {}
    }

    fn degrade(&mut self, failure: &Failure) {
        let (code, detail) = match &failure.first {
            Some((seq, error)) if self.is_alone(*seq) && Cause::of(error) == Cause::Refused => {
                (codes::RELAY_ROW_REFUSED, format!("row {seq} of the outbox: {error}"))
            }
            Some((seq, error)) => (codes::RELAY_DELIVERY_FAILING, self.explain(*seq, error)),
            None => (codes::RELAY_DELIVERY_FAILING, "the producer stopped".to_owned()),
        };
        self.is_failing = true;
        self.health.degraded(KAFKA, code, detail);
    }

    fn stall(&mut self) {
        self.stalled_at = Instant::now() + STALLED_AFTER;
        if self.flight.unacknowledged() > 0 {
            let rows = self.flight.unacknowledged();
            let last = self.producer.last_error().unwrap_or_else(|| "no error was reported".to_owned());
            self.is_failing = true;
            let detail = format!("{rows} rows wait for their acknowledgement; {last}");
            self.health.degraded(KAFKA, codes::RELAY_DELIVERY_FAILING, detail);
        }
    }

    fn is_alone(&self, seq: i64) -> bool {
        self.alone_until.is_some_and(|until| seq <= until)
    }

    fn explain(&self, seq: i64, error: &KafkaError) -> String {
        match self.producer.last_error() {
            Some(last) => format!("row {seq} of the outbox: {error}; {last}"),
            None => format!("row {seq} of the outbox: {error}"),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
    fn measure(&self) {
        let oldest = self.ages.front().map_or(0.0, |(_, born)| born.elapsed().as_secs_f64());
        ::metrics::gauge!(metrics::OLDEST_AGE.name).set(oldest);
        ::metrics::gauge!(metrics::IN_FLIGHT_ROWS.name).set(self.flight.rows() as f64);
        ::metrics::gauge!(metrics::IN_FLIGHT_BYTES.name).set(self.flight.bytes() as f64);
    }
}
