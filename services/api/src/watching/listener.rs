//! Hears that facts were written, on the channel that wakes the relay. It only wakes: polling is the truth.

use std::time::Duration;

use waybill_outbox::CHANNEL;
use waybill_runtime::{Context, Dedicated, Schema};

use super::Watching;

/// The wait between two tries to listen again.
const RETRY_MS: u64 = 2_000;
/// How often a quiet connection is asked whether it is still there, and how long its answer may take.
const PROBE_INTERVAL_MS: u64 = 5_000;

/// Listens until the process ends.
pub(crate) async fn listen(context: Context, watching: Watching) {
    let listening = async {
        loop {
            if let Ok(connection) = context.dedicated(Schema::Export).await {
                hear(connection, &watching).await;
            }
            tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
        }
    };
    context.shutdown.run_until_cancelled(listening).await;
}

/// Passes on what is heard, until the connection is lost.
async fn hear(mut connection: Dedicated, watching: &Watching) {
    let limit = Duration::from_millis(PROBE_INTERVAL_MS);
    let statement = format!("LISTEN {CHANNEL}");
    loop {
        // Doing so again changes nothing, and shows that the connection is there.
        let listens = connection.batch_execute(&statement);
        if !matches!(tokio::time::timeout(limit, listens).await, Ok(Ok(()))) {
            return;
        }
        // Whatever was said before was not heard.
        watching.0.stirred.notify_one();
        loop {
            match tokio::time::timeout(limit, connection.notified()).await {
                Ok(Some(_heard)) => watching.0.stirred.notify_one(),
                Ok(None) => return,
                Err(_quiet) => break,
            }
        }
    }
}
