//! Who may move the cursor: one relay, under a lease by the database's clock and a fence that only grows.

use std::time::Duration;

use tokio_postgres::GenericClient;
use tokio_postgres::error::SqlState;

use super::identity::{self, Identity};
use super::position::Window;
use super::{Cursor, WindowError, seconds};

/// The channel on which [`announce_release`] notifies and a standby listens.
pub const LEASE_CHANNEL: &str = "waybill_outbox_lease";

/// How the lease stands, as a standby sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Who took it last.
    pub holder: Option<String>,
    /// The fence of that takeover.
    pub fence: i64,
    /// How long it still runs; zero when anybody may take it.
    pub remaining: Duration,
}

/// Takes the lease if it is over, with fence + 1. `None` while somebody else holds it, and as long as this is not the
/// server that the cursor is of: [`standing`] says which. The first lease of all records the server.
///
/// # Errors
/// [`WindowError::Database`].
pub async fn acquire(
    db: &impl GenericClient,
    holder: &str,
    lease: Duration,
) -> Result<Option<Cursor>, WindowError> {
    let taken = db.query_opt(include_str!("sql/acquire.sql"), &[&holder, &seconds(lease)]).await?;
    taken
        .map(|row| {
            Ok(Cursor {
                fence: row.try_get("fence")?,
                identity: Identity {
                    system_identifier: row.try_get("system_identifier")?,
                    timeline: row.try_get("timeline")?,
                },
                window: Window {
                    from: row.try_get("from_snapshot")?,
                    to: row.try_get("to_snapshot")?,
                    after_seq: row.try_get("after_seq")?,
                    floor_seq: row.try_get("floor_seq")?,
                    resend_after_seq: row.try_get("resend_after_seq")?,
                },
            })
        })
        .transpose()
}

/// How the lease stands.
///
/// # Errors
/// [`WindowError::Missing`] when there is no such outbox, [`WindowError::DatabaseChanged`], else
/// [`WindowError::Database`].
pub async fn standing(db: &impl GenericClient) -> Result<Standing, WindowError> {
    let row = db
        .query_opt(include_str!("sql/standing.sql"), &[])
        .await
        .map_err(|error| match error.code() {
            Some(&SqlState::UNDEFINED_TABLE) => WindowError::Missing,
            _ => WindowError::Database(error),
        })?
        .ok_or(WindowError::Missing)?;
    identity::checked(&row)?;
    let remaining_seconds: f64 = row.try_get("remaining_seconds")?;
    Ok(Standing {
        holder: row.try_get("holder")?,
        fence: row.try_get("fence")?,
        remaining: Duration::try_from_secs_f64(remaining_seconds).unwrap_or_default(),
    })
}

/// Extends the lease from now on. It may have run out, as long as nobody took it and it was not given back.
///
/// # Errors
/// [`WindowError::Fenced`] otherwise; when the database failed [`WindowError::Database`].
pub async fn renew(db: &impl GenericClient, fence: i64, lease: Duration) -> Result<(), WindowError> {
    match db.execute(include_str!("sql/renew.sql"), &[&fence, &seconds(lease)]).await? {
        0 => Err(WindowError::Fenced { fence }),
        _ => Ok(()),
    }
}

/// Gives the lease back, so that a standby need not wait for its end. It is not an error if it is somebody else's.
///
/// # Errors
/// [`WindowError::Database`]; the lease then ends by itself.
pub async fn release(db: &impl GenericClient, fence: i64) -> Result<(), WindowError> {
    db.execute(include_str!("sql/release.sql"), &[&fence]).await?;
    Ok(())
}

/// Wakes the standbys after a [`release`]. Only a hint: they also wait for the lease's end.
///
/// # Errors
/// An error is harmless.
pub async fn announce_release(db: &impl GenericClient) -> Result<(), tokio_postgres::Error> {
    db.batch_execute(include_str!("sql/announce_release.sql")).await
}
