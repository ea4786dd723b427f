//! The look that a pool takes at a connection before it hands it out: one round trip.

use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Hook, HookError};
use tokio_postgres::SimpleQueryMessage;

use crate::metrics::CONNECTIONS_DISCARDED;

/// How long the answer may take. A connection that is slower is thrown away.
pub(super) const CHECK_TIMEOUT: Duration = Duration::from_secs(3);

/// `now()` is the start of the transaction: outside of one that is the statement's own start. In a failed transaction
/// the statement itself fails. A standby, and a primary that was told to refuse writes, are read-only from the start.
const CHECK: &str = "SELECT now() = statement_timestamp(), current_setting('transaction_read_only') = 'off'";

/// Looks at a connection that was just made.
pub(super) fn new_connection() -> Hook {
    Hook::async_fn(|client, _| Box::pin(check(client)))
}

/// Looks at a connection that somebody gave back.
pub(super) fn used_connection() -> Hook {
    Hook::async_fn(|client, _| Box::pin(check(client)))
}

async fn check(client: &ClientWrapper) -> Result<(), HookError> {
    let discard = |reason: &'static str| {
        metrics::counter!(CONNECTIONS_DISCARDED.name, "reason" => reason).increment(1);
    };
    let answer = match tokio::time::timeout(CHECK_TIMEOUT, client.simple_query(CHECK)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            discard("broken");
            return Err(HookError::Backend(error));
        }
        Err(_elapsed) => {
            discard("slow");
            return Err(HookError::message("the connection did not answer in time"));
        }
    };
    let row = answer.iter().find_map(|message| {
        let SimpleQueryMessage::Row(row) = message else { return None };
        Some((row.get(0), row.get(1)))
    });
    match row {
        Some((Some("t"), Some("t"))) => Ok(()),
        Some((Some("t"), _)) => {
            discard("read_only");
            Err(HookError::message("the server is read-only"))
        }
        _ => {
            discard("open_transaction");
            Err(HookError::message("a transaction was left open"))
        }
    }
}
