//! Which of Postgres' answers may be another one later.

use tokio_postgres::error::SqlState;

/// Whether the same transaction may be taken later: the database is away, starting, stopping, full, read-only or busy, or
/// the transaction lost against another one. An error without an answer of the server is one: the connection is gone.
#[must_use]
pub fn is_passing(error: &tokio_postgres::Error) -> bool {
    passes(error.code())
}

/// Whether a server says with this that it cannot serve now, whoever asks and whatever for: it starts, stops, has lost a
/// process, is full, only reads since it failed over, or the connection to it broke off.
#[must_use]
pub fn is_away(state: &SqlState) -> bool {
    let states = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ];
    // Classes of appendix A: connection exceptions, insufficient resources.
    states.contains(state) || is_of(state, &["08", "53"])
}

fn passes(state: Option<&SqlState>) -> bool {
    let Some(state) = state else { return true };
    // Transaction rollbacks (serialization, deadlock), operator intervention.
    is_away(state) || is_of(state, &["40", "57"]) || *state == SqlState::LOCK_NOT_AVAILABLE
}

fn is_of(state: &SqlState, classes: &[&str]) -> bool {
    classes.iter().any(|class| state.code().starts_with(class))
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

    #[test]
    fn a_server_that_cannot_serve_is_away_and_one_that_refuses_or_is_busy_is_not() {
        for away in ["57P01", "57P02", "57P03", "08006", "53300", "25006"] {
            assert!(is_away(&SqlState::from_code(away)), "{away}");
        }
        // Cancelled, a lock that was not had in time, a deadlock, no privilege, a constraint.
        for there in ["57014", "55P03", "40P01", "42501", "23514"] {
            assert!(!is_away(&SqlState::from_code(there)), "{there}");
        }
    }
}
