//! The statements of an active relay, prepared once a connection.

use tokio_postgres::{GenericClient, Statement};

use super::identity;
use super::page::{Page, PageLimits, Row, Survey};
use super::position::{Batch, Window};
use super::reading::Method;
use super::snapshot::Xid;
use super::{Cursor, WindowError};

/// What an active relay runs on one connection, and only there.
pub struct Statements {
    load: Statement,
    pending: Statement,
    open: Statement,
    page_by_xid: Statement,
    page_by_seq: Statement,
    survey: Statement,
    advance: Statement,
    drain: Statement,
    roll: Statement,
    leave: Statement,
}

impl Statements {
    /// Prepares them, and settles how the session plans them.
    ///
    /// # Errors
    /// [`WindowError::Database`].
    pub async fn prepare(db: &impl GenericClient) -> Result<Self, WindowError> {
        db.execute(include_str!("sql/session.sql"), &[]).await?;
        Ok(Self {
            load: db.prepare(include_str!("sql/load.sql")).await?,
            pending: db.prepare(include_str!("sql/pending.sql")).await?,
            open: db.prepare(include_str!("sql/open.sql")).await?,
            page_by_xid: db.prepare(include_str!("sql/page_by_xid.sql")).await?,
            page_by_seq: db.prepare(include_str!("sql/page_by_seq.sql")).await?,
            survey: db.prepare(include_str!("sql/survey.sql")).await?,
            advance: db.prepare(include_str!("sql/advance.sql")).await?,
            drain: db.prepare(include_str!("sql/drain.sql")).await?,
            roll: db.prepare(include_str!("sql/roll.sql")).await?,
            leave: db.prepare(include_str!("sql/leave.sql")).await?,
        })
    }

    /// Reads the window again. What a relay remembers of it is worth nothing on a new connection: a write whose answer
    /// was lost may have happened, and one before a crash may not. Nor need it be the same server that answers.
    ///
    /// # Errors
    /// [`WindowError::Fenced`], [`WindowError::DatabaseChanged`], [`WindowError::Database`].
    pub async fn load(&self, db: &impl GenericClient, cursor: &mut Cursor) -> Result<(), WindowError> {
        let row = db.query_opt(&self.load, &[&cursor.fence]).await?;
        let row = row.ok_or_else(|| fenced(cursor))?;
        // A fence can come twice, once on either side of a restore; the server that gave ours cannot.
        identity::same(cursor.identity.clone(), identity::checked(&row)?)?;
        cursor.window = Window {
            from: row.try_get("from_snapshot")?,
            to: row.try_get("to_snapshot")?,
            after_seq: row.try_get("after_seq")?,
            floor_seq: row.try_get("floor_seq")?,
            resend_after_seq: row.try_get("resend_after_seq")?,
        };
        Ok(())
    }

    /// How many committed rows wait behind a window, which are those that `to` does not see, counted up to one more than
    /// are read by xid. It writes nothing, and what it finds waits until the next window.
    ///
    /// # Errors
    /// [`WindowError::Database`].
    pub async fn pending(
        &self,
        db: &impl GenericClient,
        window: &Window,
        limits: PageLimits,
    ) -> Result<i64, WindowError> {
        let Window { to, floor_seq, .. } = window;
        let last_xid = Xid(to.xmax().0.saturating_sub(1));
        let rows_max = limits.by_xid_rows_max().saturating_add(1);
        let row = db.query_one(&self.pending, &[&last_xid, &to.in_progress(), floor_seq, &rows_max]).await?;
        Ok(row.try_get(0)?)
    }

    /// Opens the next window of a drained one. When this returns, `to` is on disk, and with it every commit that it sees.
    ///
    /// # Errors
    /// [`WindowError::Fenced`], also when the window is not drained; [`WindowError::Database`].
    pub async fn open(&self, db: &impl GenericClient, cursor: &mut Cursor) -> Result<(), WindowError> {
        let row = db.query_opt(&self.open, &[&cursor.fence]).await?;
        let row = row.ok_or_else(|| fenced(cursor))?;
        cursor.window.to = row.try_get("to_snapshot")?;
        cursor.window.after_seq = cursor.window.floor_seq;
        Ok(())
    }

    /// Reads the rows of the window after `after_seq`, at most a page of them.
    ///
    /// # Errors
    /// [`WindowError::Database`].
    pub async fn read_page(
        &self,
        db: &impl GenericClient,
        window: &Window,
        method: Method,
        after_seq: i64,
        limits: PageLimits,
    ) -> Result<Page, WindowError> {
        let Window { from, to, .. } = window;
        let PageLimits { rows_max, bytes_max } = limits;
        let found = match method {
            Method::ByXid => {
                let ended = from.ended_by(to);
                let statement = &self.page_by_xid;
                db.query(statement, &[from, to, &after_seq, &rows_max, &bytes_max, &ended]).await?
            }
            Method::BySeq { last_seq } => {
                let statement = &self.page_by_seq;
                db.query(statement, &[from, to, &after_seq, &rows_max, &bytes_max, &last_seq]).await?
            }
        };
        Ok(Page { rows: found.into_iter().map(Row::try_from).collect::<Result<_, _>>()? })
    }

    /// Counts the rows of the window after `after_seq`, and finds the first and the last of them.
    ///
    /// # Errors
    /// [`WindowError::Database`].
    pub async fn survey(
        &self,
        db: &impl GenericClient,
        window: &Window,
        after_seq: i64,
    ) -> Result<Survey, WindowError> {
        let Window { from, to, .. } = window;
        let row = db.query_one(&self.survey, &[from, to, &after_seq, &from.ended_by(to)]).await?;
        Ok(Survey {
            rows: row.try_get("rows")?,
            first_seq: row.try_get("first_seq")?,
            last_seq: row.try_get("last_seq")?,
        })
    }

    /// Moves the cursor over acknowledged rows, inside of the window, and records the batch.
    ///
    /// # Errors
    /// [`WindowError::Fenced`], [`WindowError::Database`].
    pub async fn advance(
        &self,
        db: &impl GenericClient,
        cursor: &mut Cursor,
        batch: Batch,
    ) -> Result<(), WindowError> {
        let Batch { last_seq, events } = batch;
        counted(move_by(db, &self.advance, cursor, last_seq, events).await?, cursor)?;
        cursor.window.after_seq = batch.last_seq;
        Ok(())
    }

    /// Ends the window, `from = to`, because its every row is acknowledged; records the last batch if there is one.
    ///
    /// # Errors
    /// [`WindowError::Fenced`], [`WindowError::Database`].
    pub async fn drain(
        &self,
        db: &impl GenericClient,
        cursor: &mut Cursor,
        batch: Option<Batch>,
    ) -> Result<(), WindowError> {
        let (last_seq, events) = last_batch(cursor, batch);
        counted(move_by(db, &self.drain, cursor, last_seq, events).await?, cursor)?;
        cursor.window.from = cursor.window.to.clone();
        cursor.window.after_seq = cursor.window.floor_seq;
        Ok(())
    }

    /// [`Self::drain`] and [`Self::open`] in one: for when more rows wait. When this returns, the new `to` is on disk.
    ///
    /// # Errors
    /// [`WindowError::Fenced`], [`WindowError::Database`].
    pub async fn roll(
        &self,
        db: &impl GenericClient,
        cursor: &mut Cursor,
        batch: Option<Batch>,
    ) -> Result<(), WindowError> {
        let (last_seq, events) = last_batch(cursor, batch);
        let row = move_by(db, &self.roll, cursor, last_seq, events).await?.ok_or_else(|| fenced(cursor))?;
        let to = row.try_get("to_snapshot")?;
        cursor.window.from = std::mem::replace(&mut cursor.window.to, to);
        cursor.window.after_seq = cursor.window.floor_seq;
        Ok(())
    }

    /// What [`Self::drain`] is to any other window, to one of rows of before a restore: behind the window that was under way
    /// then come the rows that it did not see, and behind those the first window of this server's own.
    ///
    /// # Errors
    /// [`WindowError::Fenced`], also when no rows are being sent again; [`WindowError::Database`].
    pub async fn leave(
        &self,
        db: &impl GenericClient,
        cursor: &mut Cursor,
        batch: Option<Batch>,
    ) -> Result<(), WindowError> {
        let (last_seq, events) = last_batch(cursor, batch);
        let row = move_by(db, &self.leave, cursor, last_seq, events).await?.ok_or_else(|| fenced(cursor))?;
        cursor.window = Window {
            from: row.try_get("from_snapshot")?,
            to: row.try_get("to_snapshot")?,
            after_seq: row.try_get("after_seq")?,
            floor_seq: row.try_get("floor_seq")?,
            resend_after_seq: row.try_get("resend_after_seq")?,
        };
        Ok(())
    }
}

/// The last row and the number of the rows that end a window: those of the batch, or none after where it stands.
fn last_batch(cursor: &Cursor, batch: Option<Batch>) -> (i64, i32) {
    batch.map_or((cursor.window.after_seq, 0), |batch| (batch.last_seq, batch.events))
}

/// Runs a statement that moves the cursor from where it is known to stand.
async fn move_by(
    db: &impl GenericClient,
    statement: &Statement,
    cursor: &Cursor,
    last_seq: i64,
    events: i32,
) -> Result<Option<tokio_postgres::Row>, WindowError> {
    let Cursor { fence, window: Window { from, to, after_seq, .. }, .. } = cursor;
    Ok(db.query_opt(statement, &[fence, after_seq, &last_seq, &events, from, to]).await?)
}

/// Whether the row that counts the moved cursors says one.
fn counted(row: Option<tokio_postgres::Row>, cursor: &Cursor) -> Result<(), WindowError> {
    match row.map(|row| row.try_get::<_, i64>(0)).transpose()? {
        Some(0) | None => Err(fenced(cursor)),
        Some(_) => Ok(()),
    }
}

fn fenced(cursor: &Cursor) -> WindowError {
    WindowError::Fenced { fence: cursor.fence }
}
