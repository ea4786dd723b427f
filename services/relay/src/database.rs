//! Two connections to the outbox: one reads while the other moves the cursor, each one statement at a time.

use std::future::pending;
use std::pin::Pin;

use deadpool_postgres::{Object, Pool};
use waybill_outbox::hold::park;
use waybill_outbox::window::{
    Batch, Cursor, Held, Method, Page, PageLimits, Statements, Survey, Window, WindowError,
};

use crate::error::DatabaseError;
use crate::silence;

/// The connections of one active relay.
pub(crate) struct Database {
    /// Reads the rows.
    pub(crate) reader: Connection,
    /// Moves the cursor.
    pub(crate) mover: Connection,
}

/// A connection and what is prepared on it.
pub(crate) struct Connection {
    client: Object,
    /// What the server calls it.
    backend_pid: i32,
    statements: Statements,
}

/// What is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// The rows after that one, so found.
    Page { method: Method, after_seq: i64 },
    /// What is left after that row.
    Survey { after_seq: i64 },
    /// Whether rows wait behind the window.
    Pending,
}

/// What was read.
pub(crate) enum Answer {
    Page(Page),
    Survey(Survey),
    /// So many rows, counted up to a bound.
    Pending(i64),
}

/// A change of the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Over acknowledged rows, inside of the window.
    Advance(Batch),
    /// The same, and over held rows, which it parks.
    Park(Batch, Vec<Held>),
    /// To the window's end.
    Drain(Option<Batch>),
    /// To the window's end, and into the next window.
    Roll(Option<Batch>),
    /// Into the next window.
    Open,
    /// To the end of a window of rows of before a restore, and into what comes after it.
    Leave(Option<Batch>),
}

/// A change that took place.
pub(crate) struct Changed {
    pub(crate) change: Change,
    pub(crate) cursor: Cursor,
}

impl Change {
    /// The rows that it passes.
    pub(crate) fn batch(&self) -> Option<Batch> {
        match self {
            Self::Advance(batch) | Self::Park(batch, _) => Some(*batch),
            Self::Drain(batch) | Self::Roll(batch) | Self::Leave(batch) => *batch,
            Self::Open => None,
        }
    }

    /// Whether the window is the same after it.
    pub(crate) fn is_within_window(&self) -> bool {
        matches!(self, Self::Advance(_) | Self::Park(..))
    }

    /// Whether another window is open after it.
    pub(crate) fn is_opening(&self) -> bool {
        matches!(self, Self::Roll(_) | Self::Open | Self::Leave(_))
    }
}

impl Database {
    /// Takes two connections and loads the cursor: what was remembered of it is worth nothing on new ones.
    pub(crate) async fn connect(pool: &Pool, cursor: &mut Cursor) -> Result<Self, DatabaseError> {
        let reader = Connection::take(pool).await?;
        let mover = Connection::take(pool).await?;
        mover.statements.load(&**mover.client, cursor).await?;
        Ok(Self { reader, mover })
    }

    /// Gives neither back to the pool.
    pub(crate) fn abandon(self) {
        let Self { reader, mover } = self;
        drop([Object::take(reader.client), Object::take(mover.client)]);
    }
}

impl Connection {
    async fn take(pool: &Pool) -> Result<Self, DatabaseError> {
        let client = pool.get().await?;
        let statements = Statements::prepare(&**client).await?;
        let backend_pid = silence::backend_pid(&client).await?;
        Ok(Self { client, backend_pid, statements })
    }

    /// What the server calls it.
    pub(crate) fn backend_pid(&self) -> i32 {
        self.backend_pid
    }

    /// The connection itself, for what is done rarely.
    pub(crate) fn client(&self) -> &tokio_postgres::Client {
        &self.client
    }

    /// Reads.
    pub(crate) async fn ask(
        &self,
        question: Question,
        window: Window,
        limits: PageLimits,
    ) -> Result<Answer, WindowError> {
        let (db, statements) = (&**self.client, &self.statements);
        Ok(match question {
            Question::Page { method, after_seq } => {
                Answer::Page(statements.read_page(db, &window, method, after_seq, limits).await?)
            }
            Question::Survey { after_seq } => {
                Answer::Survey(statements.survey(db, &window, after_seq).await?)
            }
            Question::Pending => Answer::Pending(statements.pending(db, &window, limits).await?),
        })
    }

    /// Moves the cursor.
    pub(crate) async fn change(&self, change: Change, mut cursor: Cursor) -> Result<Changed, WindowError> {
        let (db, statements) = (&**self.client, &self.statements);
        match &change {
            Change::Advance(batch) => statements.advance(db, &mut cursor, *batch).await?,
            Change::Park(batch, held) => park(db, &mut cursor, *batch, held).await?,
            Change::Drain(batch) => statements.drain(db, &mut cursor, *batch).await?,
            Change::Roll(batch) => statements.roll(db, &mut cursor, *batch).await?,
            Change::Open => statements.open(db, &mut cursor).await?,
            Change::Leave(batch) => statements.leave(db, &mut cursor, *batch).await?,
        }
        Ok(Changed { change, cursor })
    }
}

/// At most one statement under way.
pub(crate) struct UnderWay<'a, T> {
    statement: Option<Pin<Box<dyn Future<Output = T> + Send + 'a>>>,
}

impl<'a, T> UnderWay<'a, T> {
    /// Nothing.
    pub(crate) const fn nothing() -> Self {
        Self { statement: None }
    }

    /// Whether another may begin.
    pub(crate) fn is_free(&self) -> bool {
        self.statement.is_none()
    }

    /// Begins one, and with it ends any other.
    pub(crate) fn begin(&mut self, statement: impl Future<Output = T> + Send + 'a) {
        self.statement = Some(Box::pin(statement));
    }

    /// Waits no longer for what is under way. On the server it goes on.
    pub(crate) fn forget(&mut self) {
        self.statement = None;
    }

    /// Waits for its end; without one for ever. Cancel safe: what is under way stays so.
    pub(crate) async fn ended(&mut self) -> T {
        match &mut self.statement {
            Some(statement) => {
                let outcome = statement.as_mut().await;
                self.statement = None;
                outcome
            }
            None => pending().await,
        }
    }
}
