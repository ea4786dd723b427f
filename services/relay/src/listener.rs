//! Listens for hints that there are rows, or that a lease was given back. It only wakes: polling is the truth.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use waybill_outbox::CHANNEL;
use waybill_outbox::window::LEASE_CHANNEL;
use waybill_runtime::{Context, Dedicated};

use crate::backoff::Backoff;

/// The waits between two tries to listen again.
const RETRY: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(5));

/// How often a quiet connection is asked whether it is still there.
const PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// How long its answer may take.
const PROBE_ANSWER_MAX: Duration = Duration::from_secs(5);

/// What was heard. Each holds at most one wake-up that nobody has waited for yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wakes {
    /// There may be rows.
    pub(crate) rows: Arc<Notify>,
    /// The lease may be free.
    pub(crate) lease: Arc<Notify>,
}

/// Listens until shutdown.
pub(crate) async fn listen(context: Context, outbox: Arc<str>, wakes: Wakes) {
    let listening = async {
        let mut retry = RETRY;
        loop {
            if let Ok(connection) = connect(&context, &outbox).await {
                retry.reset();
                hear(connection, &wakes).await;
            }
            // Whatever was said meanwhile was not heard.
            wakes.rows.notify_one();
            wakes.lease.notify_one();
            tokio::time::sleep(retry.next()).await;
        }
    };
    context.shutdown.run_until_cancelled(listening).await;
}

async fn connect(
    context: &Context,
    outbox: &str,
) -> Result<Dedicated, Box<dyn std::error::Error + Send + Sync>> {
    let connection = context.outbox_dedicated(outbox).await?;
    listen_on(&connection).await?;
    Ok(connection)
}

/// Doing so again changes nothing, and shows that the connection is there.
async fn listen_on(connection: &Dedicated) -> Result<(), tokio_postgres::Error> {
    connection.batch_execute(&format!("LISTEN {CHANNEL}; LISTEN {LEASE_CHANNEL}")).await
}

/// Passes on what is heard, until the connection is lost.
async fn hear(mut connection: Dedicated, wakes: &Wakes) {
    wakes.rows.notify_one();
    wakes.lease.notify_one();
    loop {
        match tokio::time::timeout(PROBE_INTERVAL, connection.notified()).await {
            Ok(Some(heard)) if heard.channel() == LEASE_CHANNEL => wakes.lease.notify_one(),
            Ok(Some(_)) => wakes.rows.notify_one(),
            Ok(None) => return,
            Err(_quiet) => {
                let answered = tokio::time::timeout(PROBE_ANSWER_MAX, listen_on(&connection)).await;
                if !matches!(answered, Ok(Ok(()))) {
                    return;
                }
            }
        }
    }
}
