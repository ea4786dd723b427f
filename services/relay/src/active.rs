//! The active relay: opens windows, reads them, and moves the cursor behind what Kafka acknowledged, all at once.

use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use waybill_fault_points::{Point, reach};
use waybill_outbox::window::{Cursor, Move, Reading, Step, Window, WindowError, next_move};
use waybill_runtime::Context;

use crate::age::OldestAge;
use crate::backoff::Backoff;
use crate::database::{Answer, Change, Changed, Database, Question, UnderWay};
use crate::error::{DatabaseError, Error};
use crate::holding::Timers;
use crate::lease::{self, Lease, Lost};
use crate::line::Line;
use crate::listener::Wakes;
use crate::metrics;
use crate::observe;
use crate::options::Options;
use crate::silence;
use crate::standby::{DATABASE, DATABASE_RETRY, Taken, report};
use crate::watch::Watch;

/// How long it may take until a pair of connections can be worked with.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// How long acknowledgements are waited for after the shutdown began.
const SHUTDOWN_FLUSH_MAX: Duration = Duration::from_secs(5);

/// Why the active relay stopped.
#[derive(Debug)]
pub(crate) enum End {
    /// It was asked to.
    Shutdown,
    /// Its lease is gone.
    Lost(Lost),
}

/// Relays until shutdown or until the lease is lost. When this returns, nothing more is sent.
pub(crate) async fn relay(
    context: &Context,
    pool: &Pool,
    options: &Options,
    wakes: &Wakes,
    taken: Taken,
    oldest: &OldestAge,
) -> Result<End, Error> {
    let Taken { cursor, asked } = taken;
    let lease = Lease::keep(context, options, cursor.fence, asked);
    let reading = Reading::of(&cursor.window);
    let line = Line::start(context, options)?;
    let retry = DATABASE_RETRY;
    let watch = Watch::start(pool.clone(), context.kafka_settings(), options, cursor.fence)?;
    let timers = Timers::start();
    let (more, poll_at) = (More::Unknown, Instant::now());
    let mut active = Active {
        context,
        pool,
        options,
        wakes,
        oldest,
        cursor,
        reading,
        more,
        poll_at,
        line,
        retry,
        watch,
        timers,
    };
    let flush_is_over = async {
        context.shutdown.cancelled().await;
        sleep(SHUTDOWN_FLUSH_MAX).await;
    };
    // Whatever is cut off here is accounted for: rows by the cursor that did not pass them, a write of the cursor by
    // whoever loads it next.
    let end = tokio::select! {
        biased;
        lost = lease.lost() => Ok(End::Lost(lost)),
        () = flush_is_over => Ok(End::Shutdown),
        end = active.work() => end,
        never = observe::observe(context, pool, options, oldest) => match never {},
    };
    observe::hide(context, &options.outbox);
    active.hide_holds();
    active.line.end().await;
    match end {
        Ok(End::Lost(lost)) => Ok(End::Lost(lease::why(pool, active.cursor.fence, lost).await)),
        end => end,
    }
}

/// What one takeover works with.
pub(crate) struct Active<'a> {
    pub(crate) context: &'a Context,
    pool: &'a Pool,
    pub(crate) options: &'a Options,
    wakes: &'a Wakes,
    oldest: &'a OldestAge,
    pub(crate) cursor: Cursor,
    pub(crate) reading: Reading,
    more: More,
    /// When an idle relay looks again though nothing was heard.
    poll_at: Instant,
    pub(crate) line: Line,
    retry: Backoff,
    pub(crate) watch: Watch,
    pub(crate) timers: Timers,
}

/// Whether committed rows wait behind the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    /// Nobody has looked yet, or something was heard since.
    Unknown,
    /// There were none.
    None,
    /// They do, and nothing but the next window changes that. So many were counted, up to a bound.
    Waits { rows: i64 },
}

/// Why the work on one pair of connections ended before the shutdown.
pub(crate) enum Interrupt {
    Database(DatabaseError),
    Producer(rdkafka::error::KafkaError),
}

impl<E: Into<DatabaseError>> From<E> for Interrupt {
    fn from(error: E) -> Self {
        Self::Database(error.into())
    }
}

impl Active<'_> {
    /// Works on one pair of connections after the other.
    async fn work(&mut self) -> Result<End, Error> {
        loop {
            let pool = self.pool;
            let connected = timeout(CONNECT_MAX, self.connect()).await;
            let worked = match connected.unwrap_or(Err(DatabaseError::Silent)) {
                Ok(database) => tokio::select! {
                    worked = self.work_on(&database) => worked,
                    () = silence::falls(pool, &database) => {
                        database.abandon();
                        Err(DatabaseError::Silent.into())
                    }
                },
                Err(DatabaseError::Window(WindowError::Fenced { .. })) => {
                    return Ok(End::Lost(Lost::Fenced));
                }
                Err(error @ DatabaseError::Window(WindowError::DatabaseChanged { .. })) => {
                    report(self.context, &error);
                    return Ok(End::Lost(Lost::DatabaseChanged));
                }
                Err(error) => Err(error.into()),
            };
            match worked {
                Ok(()) => return Ok(End::Shutdown),
                Err(Interrupt::Producer(error)) => return Err(error.into()),
                // The cursor is not where we left it: another relay moved it, or a move of our own did whose answer was
                // lost. Loading it shows which.
                Err(Interrupt::Database(DatabaseError::Window(WindowError::Fenced { .. }))) => {}
                Err(Interrupt::Database(error)) => report(self.context, &error),
            }
            if self.context.shutdown.run_until_cancelled(sleep(self.retry.next())).await.is_none() {
                return Ok(End::Shutdown);
            }
        }
    }

    async fn connect(&mut self) -> Result<Database, DatabaseError> {
        let known = self.cursor.window.clone();
        let database = Database::connect(self.pool, &mut self.cursor).await?;
        self.resume(&known);
        self.load_holds(&database).await?;
        self.context.health.clear(DATABASE);
        Ok(database)
    }

    /// Goes on from the loaded window. Rows are in flight only for a window that was not drained, and only this relay
    /// could have moved it; so they are still worth waiting for exactly if it is the window that they belong to, and no
    /// crash of the server took moves back that passed others of its rows.
    fn resume(&mut self, known: &Window) {
        let loaded = &self.cursor.window;
        self.more = More::Unknown;
        if loaded.from == known.from && loaded.to == known.to && loaded.after_seq >= known.after_seq {
            self.line.passed(loaded.after_seq);
            return;
        }
        self.reading = Reading::of(loaded);
        self.line.forget();
        self.line.passed(i64::MAX);
    }

    /// Works until shutdown. At any time at most one read and one move of the cursor are under way, beside the rows that
    /// Kafka has not acknowledged; whatever ends first is dealt with first.
    async fn work_on(&mut self, database: &Database) -> Result<(), Interrupt> {
        let mut read = UnderWay::nothing();
        let mut moved = UnderWay::nothing();
        loop {
            let is_shutting_down = self.context.shutdown.is_cancelled();
            if self.line.absorb() {
                read.forget();
                self.start_over(database).await?;
                continue;
            }
            self.meet_need(database).await?;
            if self.timers.tick_at <= Instant::now() {
                self.tick(database).await?;
            }
            let next_hold = self.next_hold().filter(|_| !is_shutting_down);
            if let Some(hold_id) = next_hold
                && self.line.is_clear()
                && read.is_free()
                && moved.is_free()
            {
                self.drain_holds(database, hold_id).await?;
                continue;
            }
            if moved.is_free() {
                match self.next_change(is_shutting_down) {
                    Some(change) => moved.begin(self.change(database, change)),
                    None if is_shutting_down && self.line.flight().unacknowledged() == 0 => return Ok(()),
                    None => {}
                }
            }
            // What is not handed over yet stays in the window, for whoever is active next.
            if is_shutting_down {
                self.line.follow();
            } else {
                if read.is_free()
                    && let Some(question) = self.next_question(next_hold.is_some())
                {
                    let window = self.cursor.window.clone();
                    read.begin(database.reader.ask(question, window, self.options.page));
                }
                self.line.pump();
            }
            let is_idle = self.is_idle() && !is_shutting_down;
            tokio::select! {
                changed = moved.ended() => {
                    let changed = changed?;
                    if !changed.change.is_within_window() {
                        // It was asked about the window of before: its end is not this one's.
                        read.forget();
                    }
                    self.changed(changed);
                }
                answer = read.ended() => self.answered(answer?),
                () = self.line.wait() => {}
                () = yield_now(), if !is_shutting_down && self.line.is_ready() => {}
                news = self.watch.news() => self.hear(database, news).await?,
                () = sleep_until(self.timers.tick_at), if !is_shutting_down => {}
                () = self.wakes.rows.notified(), if is_idle => {
                    self.more = More::Unknown;
                    // Somebody may have decided about a parked row.
                    self.timers.tick_at = Instant::now();
                }
                () = sleep_until(self.poll_at), if is_idle => self.more = More::Unknown,
                () = self.context.shutdown.cancelled(), if !is_shutting_down => {}
            }
        }
    }

    /// Whether nothing waits behind the window.
    pub(crate) fn is_idle(&self) -> bool {
        self.more == More::None
    }

    /// Notes that rows may have come while nobody listened.
    pub(crate) fn look_again(&mut self) {
        self.more = More::Unknown;
    }

    /// What the reader does next. No page of the window while a hold waits for its turn.
    fn next_question(&self, is_closing: bool) -> Option<Question> {
        match self.reading.step() {
            Step::Read { method, after_seq } if !is_closing && self.line.has_room() => {
                Some(Question::Page { method, after_seq })
            }
            Step::Survey { after_seq } => Some(Question::Survey { after_seq }),
            Step::End if self.more == More::Unknown && !self.cursor.window.is_resend() => {
                Some(Question::Pending)
            }
            Step::Read { .. } | Step::End => None,
        }
    }

    fn answered(&mut self, answer: Answer) {
        match answer {
            Answer::Page(page) => {
                self.reading.read(page.end(self.options.page));
                self.line.take_in(page);
            }
            Answer::Survey(survey) => self.reading.surveyed(survey, self.options.page),
            Answer::Pending(0) => {
                self.more = More::None;
                if self.cursor.window.is_drained() {
                    self.oldest.saw(None);
                }
                self.poll_at = Instant::now() + self.options.poll_interval;
            }
            Answer::Pending(rows) => self.more = More::Waits { rows },
        }
    }

    /// What the mover does next. A window is drained when nothing waits behind it, and else left for the next one.
    fn next_change(&self, is_shutting_down: bool) -> Option<Change> {
        let is_read = self.reading.is_ended() && self.line.is_pumped();
        let is_drained = self.cursor.window.is_drained();
        match (next_move(self.line.flight(), is_read, self.line.step_rows()), self.more) {
            (Move::Advance(batch), _) => Some(Change::Advance(batch)),
            (Move::Park, _) => {
                let (settled, held) = self.line.flight().parking();
                settled.batch().map(|batch| Change::Park(batch, held))
            }
            (Move::Drain(batch), _) if self.cursor.window.is_resend() => Some(Change::Leave(batch)),
            (Move::Drain(batch), _) if is_shutting_down => (!is_drained).then_some(Change::Drain(batch)),
            (Move::Drain(_), More::Waits { .. }) if is_drained => Some(Change::Open),
            (Move::Drain(batch), More::Waits { .. }) => Some(Change::Roll(batch)),
            (Move::Drain(batch), More::None) if !is_drained => Some(Change::Drain(batch)),
            (Move::Drain(_) | Move::Stay, _) => None,
        }
    }

    /// Begins a move. It is made of a copy of the cursor, which takes its place when the move is known to have happened.
    fn change<'d>(
        &self,
        database: &'d Database,
        change: Change,
    ) -> impl Future<Output = Result<Changed, WindowError>> + Send + use<'d> {
        if change.batch().is_some() {
            reach(Point::RelayAcknowledged);
        }
        database.mover.change(change, self.cursor.clone())
    }

    fn changed(&mut self, changed: Changed) {
        let Changed { change, cursor } = changed;
        self.cursor = cursor;
        self.retry.reset();
        if change.is_opening() {
            reach(Point::RelayOpened);
            self.reading = match self.more {
                More::Waits { rows } => Reading::opened(&self.cursor.window, rows, self.options.page),
                More::Unknown | More::None => Reading::of(&self.cursor.window),
            };
        }
        if !change.is_within_window() {
            self.more = More::Unknown;
        }
        if let Change::Park(_, held) = &change {
            held.iter().for_each(|held| self.line.holds.parked(held.hold_id));
        }
        if let Some(batch) = change.batch() {
            self.line.passed(batch.last_seq);
            self.oldest.moved();
            metrics::count(&metrics::BATCHES, &self.options.outbox, 1);
            metrics::count(&metrics::ROWS, &self.options.outbox, u64::from(batch.events.unsigned_abs()));
            tracing::debug!(outbox.seq = batch.last_seq, events = batch.events, "acknowledged");
        }
    }

    /// After a failed delivery: holds what it was about, and reads and sends again from the lowest row that is not
    /// acknowledged.
    async fn start_over(&mut self, database: &Database) -> Result<(), Interrupt> {
        let aftermath = self.line.start_over().await.map_err(Interrupt::Producer)?;
        let settled = self.line.flight().settled().last_seq;
        let after_seq = settled.max(self.cursor.window.after_seq);
        self.reading = Reading::of(&Window { after_seq, ..self.cursor.window.clone() });
        self.hold_what_failed(database, &aftermath).await
    }
}
