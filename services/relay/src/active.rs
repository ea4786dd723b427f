//! The active relay: opens windows, reads them, and moves the cursor behind what Kafka acknowledged.

use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use tokio::time::sleep;
use waybill_fault_points::{Point, reach};
use waybill_outbox::window::{
    Batch, Cursor, Move, Reading, Statements, Step, Window, WindowError, next_move,
};
use waybill_runtime::Context;

use crate::backoff::Backoff;
use crate::error::{DatabaseError, Error};
use crate::lease::{Lease, Lost};
use crate::line::Line;
use crate::listener::Wakes;
use crate::metrics;
use crate::options::Options;
use crate::standby::{DATABASE, DATABASE_RETRY, Taken, report};

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
) -> Result<End, Error> {
    let Taken { cursor, asked } = taken;
    let lease = Lease::keep(pool.clone(), options, cursor.fence, asked);
    let reading = Reading::of(&cursor.window);
    let line = Line::start(context, options)?;
    let mut active = Active { context, pool, options, wakes, cursor, reading, line, retry: DATABASE_RETRY };
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
    };
    active.line.end().await;
    end
}

/// What one takeover works with.
struct Active<'a> {
    context: &'a Context,
    pool: &'a Pool,
    options: &'a Options,
    wakes: &'a Wakes,
    cursor: Cursor,
    reading: Reading,
    line: Line,
    retry: Backoff,
}

/// A connection and what is prepared on it.
struct Database {
    client: Object,
    statements: Statements,
}

/// Why the work on one connection ended before the shutdown.
enum Interrupt {
    Database(DatabaseError),
    Producer(rdkafka::error::KafkaError),
}

impl<E: Into<DatabaseError>> From<E> for Interrupt {
    fn from(error: E) -> Self {
        Self::Database(error.into())
    }
}

impl Active<'_> {
    /// Works on one connection after the other.
    async fn work(&mut self) -> Result<End, Error> {
        loop {
            let worked = match self.connect().await {
                Ok(database) => self.work_on(&database).await,
                Err(interrupt) => Err(interrupt),
            };
            match worked {
                Ok(()) => return Ok(End::Shutdown),
                Err(Interrupt::Producer(error)) => return Err(error.into()),
                Err(Interrupt::Database(DatabaseError::Window(WindowError::Fenced { .. }))) => {
                    return Ok(End::Lost(Lost::Fenced));
                }
                Err(Interrupt::Database(
                    error @ DatabaseError::Window(WindowError::DatabaseChanged { .. }),
                )) => {
                    report(self.context, &error);
                    return Ok(End::Lost(Lost::DatabaseChanged));
                }
                Err(Interrupt::Database(error)) => report(self.context, &error),
            }
            if self.context.shutdown.run_until_cancelled(sleep(self.retry.next())).await.is_none() {
                return Ok(End::Shutdown);
            }
        }
    }

    /// Takes a connection and loads the cursor: what was remembered of it is worth nothing on a new one.
    async fn connect(&mut self) -> Result<Database, Interrupt> {
        let client = self.pool.get().await?;
        let statements = Statements::prepare(&**client).await?;
        let known = self.cursor.window.clone();
        statements.load(&**client, &mut self.cursor).await?;
        self.resume(&known);
        self.context.health.clear(DATABASE);
        Ok(Database { client, statements })
    }

    /// Goes on from the loaded window. Rows are in flight only for a window that was not drained, and only this relay
    /// could have moved it; so they are still worth waiting for exactly if it is the window that they belong to.
    fn resume(&mut self, known: &Window) {
        let loaded = &self.cursor.window;
        if loaded.from == known.from && loaded.to == known.to {
            if loaded.after_seq >= self.line.flight().settled().last_seq {
                self.line.passed();
            }
            return;
        }
        self.reading = Reading::of(loaded);
        self.line.forget();
        self.line.passed();
    }

    /// Works until shutdown. Each turn does one thing: it moves the cursor, reads, opens a window, or waits.
    async fn work_on(&mut self, database: &Database) -> Result<(), Interrupt> {
        loop {
            let is_shutting_down = self.context.shutdown.is_cancelled();
            if self.line.absorb() {
                self.start_over().await?;
                continue;
            }
            // What is not handed over yet stays in the window, for whoever is active next.
            if !is_shutting_down {
                self.line.pump();
            }
            let is_read = self.reading.is_ended() && self.line.is_pumped();
            match next_move(self.line.flight(), is_read, self.line.step_rows()) {
                Move::Advance(batch) => self.advance(database, batch).await?,
                Move::Drain(batch) if !self.cursor.window.is_drained() => self.drain(database, batch).await?,
                Move::Drain(_) | Move::Stay
                    if is_shutting_down && self.line.flight().unacknowledged() == 0 =>
                {
                    return Ok(());
                }
                Move::Drain(_) => self.open_or_wait(database).await?,
                Move::Stay if !is_shutting_down && !self.reading.is_ended() && self.line.has_room() => {
                    self.read(database).await?;
                }
                Move::Stay => self.line.wait(is_shutting_down).await,
            }
        }
    }

    async fn read(&mut self, database: &Database) -> Result<(), Interrupt> {
        let Database { client, statements } = database;
        let (db, window, limits) = (&***client, &self.cursor.window, self.options.page);
        match self.reading.step() {
            Step::Read { method, after_seq } => {
                let page = statements.read_page(db, window, method, after_seq, limits).await?;
                self.reading.read(&page, limits);
                self.line.take_in(page);
            }
            Step::Survey { after_seq } => {
                let survey = statements.survey(db, window, after_seq).await?;
                self.reading.surveyed(survey, limits);
            }
            Step::End => {}
        }
        Ok(())
    }

    async fn advance(&mut self, database: &Database, batch: Batch) -> Result<(), Interrupt> {
        reach(Point::RelayAcknowledged);
        let Database { client, statements } = database;
        statements.advance(&***client, &mut self.cursor, batch).await?;
        self.moved(Some(batch));
        Ok(())
    }

    async fn drain(&mut self, database: &Database, batch: Option<Batch>) -> Result<(), Interrupt> {
        if batch.is_some() {
            reach(Point::RelayAcknowledged);
        }
        let Database { client, statements } = database;
        statements.drain(&***client, &mut self.cursor, batch).await?;
        self.moved(batch);
        Ok(())
    }

    fn moved(&mut self, batch: Option<Batch>) {
        self.retry.reset();
        self.line.passed();
        if let Some(batch) = batch {
            ::metrics::counter!(metrics::BATCHES.name).increment(1);
            ::metrics::counter!(metrics::ROWS.name).increment(u64::from(batch.events.unsigned_abs()));
            tracing::debug!(outbox.seq = batch.last_seq, events = batch.events, "acknowledged");
        }
    }

    /// Opens the next window if there is a row for it; otherwise waits until there may be one.
    async fn open_or_wait(&mut self, database: &Database) -> Result<(), Interrupt> {
        let Database { client, statements } = database;
        if statements.pending(&***client, &self.cursor.window).await? {
            statements.open(&***client, &mut self.cursor).await?;
            self.reading = Reading::of(&self.cursor.window);
            return Ok(());
        }
        self.retry.reset();
        tokio::select! {
            () = self.wakes.rows.notified() => {}
            () = sleep(self.options.poll_interval) => {}
            () = self.context.shutdown.cancelled() => {}
        }
        Ok(())
    }

    /// After a failed delivery: reads and sends again from the lowest row that is not acknowledged.
    async fn start_over(&mut self) -> Result<(), Interrupt> {
        self.line.start_over().await.map_err(Interrupt::Producer)?;
        let settled = self.line.flight().settled().last_seq;
        let after_seq = settled.max(self.cursor.window.after_seq);
        self.reading = Reading::of(&Window { after_seq, ..self.cursor.window.clone() });
        Ok(())
    }
}
