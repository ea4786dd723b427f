//! Which of Postgres' answers may be another one later.

use tokio_postgres::error::SqlState;

/// Whether the same transaction may be taken later: the database is away, starting, stopping, full, read-only or busy, or
/// the transaction lost against another one. An error without an answer of the server is one: the connection is gone.
#[must_use]
pub fn is_passing(error: &tokio_postgres::Error) -> bool {
    passes(error.code())
}

fn passes(state: Option<&SqlState>) -> bool {
    let Some(state) = state else { return true };
    // Classes of appendix A: connection exceptions, transaction rollbacks (serialization, deadlock), insufficient
    // resources, operator intervention.
    ["08", "40", "53", "57"].iter().any(|class| state.code().starts_with(class))
        || *state == SqlState::READ_ONLY_SQL_TRANSACTION
        || *state == SqlState::LOCK_NOT_AVAILABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_passes_and_a_refusal_does_not() {
        assert!(passes(None));
        // Shutdown, starting up, connection lost, too many connections, disk full, failed over to a standby, deadlock.
        for state in ["57P01", "57P03", "08006", "53300", "53100", "25006", "40P01"] {
            assert!(passes(Some(&SqlState::from_code(state))), "{state}");
        }
        for state in ["23505", "42501", "42P01", "22001"] {
            assert!(!passes(Some(&SqlState::from_code(state))), "{state}");
        }
    }
}
