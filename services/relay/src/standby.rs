//! Waits for the lease and takes it.

use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::time::{Instant, timeout};
use waybill_outbox::window::{self, Cursor, WindowError};
use waybill_runtime::{Context, chain};
use waybill_store::migrations::check_outbox;

use crate::age::OldestAge;
use crate::backoff::Backoff;
use crate::codes;
use crate::error::DatabaseError;
use crate::listener::Wakes;
use crate::options::Options;
use crate::silence;

/// The component of health that the database is.
pub(crate) const DATABASE: &str = "database";

/// The waits between two tries while the database does not answer.
pub(crate) const DATABASE_RETRY: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));

/// How long one try may take. A connection over which nothing comes is found so.
const ATTEMPT_MAX: Duration = Duration::from_secs(8);

/// A lease that ends so soon is waited for so long.
const WAIT_MIN: Duration = Duration::from_millis(50);

/// What was taken.
pub(crate) struct Taken {
    /// Where to go on.
    pub(crate) cursor: Cursor,
    /// When the lease was asked for: it counts from there.
    pub(crate) asked: Instant,
}

/// Waits until the lease is ours. `None` at shutdown.
pub(crate) async fn acquire(
    context: &Context,
    pool: &Pool,
    options: &Options,
    holder: &str,
    wakes: &Wakes,
    oldest: &OldestAge,
) -> Option<Taken> {
    let waiting = async {
        let mut retry = DATABASE_RETRY;
        loop {
            let attempted = timeout(ATTEMPT_MAX, attempt(context, pool, options, holder)).await;
            // One whose answer comes too late may have taken the lease, which ends by itself.
            let wait = match attempted.unwrap_or(Err(DatabaseError::Silent)) {
                Ok(Attempt::Taken(taken)) => {
                    context.health.clear(DATABASE);
                    return taken;
                }
                Ok(Attempt::HeldFor(remaining)) => {
                    context.health.clear(DATABASE);
                    oldest.forget();
                    retry.reset();
                    remaining.clamp(WAIT_MIN, options.lease)
                }
                Err(error) => {
                    if matches!(error, DatabaseError::Silent) {
                        silence::distrust(pool);
                    }
                    report(context, &error);
                    oldest.grow();
                    retry.next()
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = wakes.lease.notified() => {}
            }
        }
    };
    // A request that is cut off here may have taken the lease: it ends by itself, and nobody waits for this process.
    context.shutdown.run_until_cancelled(waiting).await
}

/// Says that the database does not answer, has no outbox that this version knows, or is not the one that the cursor is of.
pub(crate) fn report(context: &Context, error: &DatabaseError) {
    let code = match error {
        DatabaseError::Structure(error) if error.finds_no_outbox() => codes::RELAY_OUTBOX_MISSING,
        DatabaseError::Structure(error) if error.is_refusal() => codes::RELAY_OUTBOX_VERSION_UNKNOWN,
        DatabaseError::Window(WindowError::Missing) => codes::RELAY_OUTBOX_MISSING,
        DatabaseError::Window(WindowError::DatabaseChanged { .. }) => codes::RELAY_DATABASE_CHANGED,
        DatabaseError::Window(WindowError::Fenced { .. } | WindowError::Database(_))
        | DatabaseError::Structure(_)
        | DatabaseError::Pool(_)
        | DatabaseError::Silent => codes::RELAY_DATABASE_FAILING,
    };
    context.health.degraded(DATABASE, code, chain(&error));
}

enum Attempt {
    Taken(Taken),
    HeldFor(Duration),
}

/// Takes the lease of an outbox whose structure this version knows. Another version may have migrated it since the last
/// attempt, and what is not known is not touched.
async fn attempt(
    context: &Context,
    pool: &Pool,
    options: &Options,
    holder: &str,
) -> Result<Attempt, DatabaseError> {
    let db = pool.get().await?;
    check_outbox(&**db, context.outbox_schema(&options.outbox)).await?;
    let asked = Instant::now();
    if let Some(cursor) = window::acquire(&**db, holder, options.lease).await? {
        return Ok(Attempt::Taken(Taken { cursor, asked }));
    }
    Ok(Attempt::HeldFor(window::standing(&**db).await?.remaining))
}
