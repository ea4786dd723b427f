//! Keeps the lease while a relay is active, and stops the relay before the lease can be over.

use std::error::Error;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};
use waybill_outbox::window::{self, WindowError};
use waybill_runtime::{Context, Dedicated};

use crate::options::Options;

/// How long the answer is waited for whether somebody took a lease that was not renewed in time.
const WHY_MAX: Duration = Duration::from_secs(3);

/// Why a relay is no longer the active one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Another took over.
    Fenced,
    /// The database did not confirm the renewal in time.
    Late,
    /// Another database answers: the lease, if it has one of that fence, is not ours.
    DatabaseChanged,
}

/// The lease of an active relay. Dropping it ends the renewals, and does not release the lease.
pub(crate) struct Lease {
    lost: watch::Receiver<Option<Lost>>,
    _renewing: DropGuard,
}

impl Lease {
    /// Keeps a lease that was asked for at `asked`.
    pub(crate) fn keep(context: &Context, options: &Options, fence: i64, asked: Instant) -> Self {
        let (sender, lost) = watch::channel(None);
        let done = CancellationToken::new();
        let guard = done.clone().drop_guard();
        let (context, options) = (context.clone(), options.clone());
        tokio::spawn(async move {
            let renewals = renew_until_lost(&context, &options, fence, asked);
            if let Some(reason) = done.run_until_cancelled(renewals).await {
                sender.send_replace(Some(reason));
            }
        });
        Self { lost, _renewing: guard }
    }

    /// Waits until this relay must not send any more. Cancel safe.
    pub(crate) async fn lost(&self) -> Lost {
        let mut lost = self.lost.clone();
        // The task that renews says why before it ends; should it end otherwise, nothing is renewed any more.
        lost.wait_for(Option::is_some).await.map_or(Lost::Late, |reason| reason.unwrap_or(Lost::Late))
    }
}

/// Renews until that fails for good. A lease is counted from before the request, so that by this clock it is over
/// before it is over by the database's.
///
/// Renewals go over a connection of their own, so that they wait for no work and for nobody's turn in the pool. One that
/// is not answered in time may never be: the next goes over a new connection, while the lease is still usable.
async fn renew_until_lost(context: &Context, options: &Options, fence: i64, asked: Instant) -> Lost {
    let mut usable_until = asked + options.lease_usable();
    let mut due = asked + options.renew_after();
    let mut connection = None;
    loop {
        sleep_until(due.min(usable_until)).await;
        let asked = Instant::now();
        if asked >= usable_until {
            return Lost::Late;
        }
        let until = usable_until.min(asked + options.renewal_max());
        let renewed = timeout_at(until, renew(context, options, fence, connection)).await;
        connection = match renewed.unwrap_or(Err(Renewal::Silent)) {
            Ok(connection) => {
                usable_until = asked + options.lease_usable();
                due = asked + options.renew_after();
                Some(connection)
            }
            Err(Renewal::Fenced) => return Lost::Fenced,
            Err(Renewal::Failed) => {
                due = Instant::now() + options.renew_again_after();
                None
            }
            Err(Renewal::Silent) => {
                due = Instant::now();
                None
            }
        };
    }
}

/// Why a renewal is not known to have happened.
enum Renewal {
    /// Another took over.
    Fenced,
    /// The server, or the way to it, said so.
    Failed,
    /// Nobody said anything.
    Silent,
}

/// Renews over this connection, or a new one, and gives it back if it can be trusted further.
async fn renew(
    context: &Context,
    options: &Options,
    fence: i64,
    connection: Option<Dedicated>,
) -> Result<Dedicated, Renewal> {
    let connection = match connection {
        Some(connection) => connection,
        None => context.outbox_dedicated(&options.outbox).await.map_err(|error| {
            tracing::debug!(error = &error as &dyn Error, "no connection to renew the lease");
            Renewal::Failed
        })?,
    };
    match window::renew(&*connection, fence, options.lease).await {
        Ok(()) => Ok(connection),
        Err(WindowError::Fenced { .. }) => Err(Renewal::Fenced),
        Err(
            error @ (WindowError::Missing | WindowError::DatabaseChanged { .. } | WindowError::Database(_)),
        ) => {
            tracing::debug!(error = &error as &dyn Error, "the lease was not renewed");
            Err(Renewal::Failed)
        }
    }
}

/// Why the lease was lost, asked once nothing is sent any more: a relay that comes back late finds out only now that
/// another one took over meanwhile.
pub(crate) async fn why(pool: &Pool, fence: i64, lost: Lost) -> Lost {
    let asked = async {
        let db = pool.get().await.ok()?;
        window::standing(&**db).await.ok()
    };
    match lost {
        Lost::Late => match tokio::time::timeout(WHY_MAX, asked).await {
            Ok(Some(standing)) if standing.fence != fence => Lost::Fenced,
            Ok(_) | Err(_) => lost,
        },
        Lost::Fenced | Lost::DatabaseChanged => lost,
    }
}

/// Gives the lease back and wakes the standbys, within `limit`. Failing is harmless: the lease ends by itself.
pub(crate) async fn release(pool: &Pool, fence: i64, limit: Duration) {
    let give_back = async {
        let db = pool.get().await.ok()?;
        window::release(&**db, fence).await.ok()?;
        window::announce_release(&**db).await.ok()
    };
    if !matches!(tokio::time::timeout(limit, give_back).await, Ok(Some(()))) {
        tracing::debug!(outbox.fence = fence, "the lease was not given back; it ends by itself");
    }
}
