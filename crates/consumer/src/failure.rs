//! Why a transaction did not commit, and what follows from it.

use std::error::Error;

use crate::effect::{EffectError, Poison};

pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// What is to be done about a batch that was rolled back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Somebody else has the partition: drop the batch.
    #[error("the position is not this holder's any more")]
    Fenced,
    /// The position was told to stop at this offset: apply what lies before it.
    #[error("the position stops at {0}")]
    Stopped(i64),
    /// Park that record, and apply the others.
    #[error("the record at offset {offset} is refused: {poison}")]
    Poison { offset: i64, poison: Poison },
    /// Postgres refuses some value among the batch's: find out whose.
    #[error("Postgres refuses a value of the batch")]
    Rejected(#[source] Cause),
    /// Postgres cannot work now: wait and try again, on another connection.
    #[error("Postgres is not available")]
    Unavailable(#[source] Cause),
    /// Something else is wrong, with the effect or with the database's set-up: wait and try again, and say so.
    #[error("the batch fails")]
    Failing(#[source] Cause),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(cause: tokio_postgres::Error) -> Self {
        match kind(&cause) {
            Kind::Rejected => Self::Rejected(cause.into()),
            Kind::Unavailable => Self::Unavailable(cause.into()),
            Kind::Failing => Self::Failing(cause.into()),
        }
    }
}

impl From<EffectError> for Failure {
    fn from(error: EffectError) -> Self {
        match error {
            EffectError::Poison { offset, reason, detail } => {
                Self::Poison { offset, poison: Poison { reason, detail } }
            }
            EffectError::Failed(cause) => match postgres_in(&*cause).map(kind) {
                Some(Kind::Rejected) => Self::Rejected(cause),
                Some(Kind::Unavailable) => Self::Unavailable(cause),
                Some(Kind::Failing) | None => Self::Failing(cause),
            },
        }
    }
}

impl Failure {
    /// An error and its causes as one line.
    pub(crate) fn chain(&self) -> String {
        chain(self)
    }
}

/// An error and its causes as one line, each said once.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    text
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rejected,
    Unavailable,
    Failing,
}

fn kind(error: &tokio_postgres::Error) -> Kind {
    // Without a state the error is the connection's: lost, refused or never made.
    error.code().map_or(Kind::Unavailable, |state| kind_of_state(state.code()))
}

/// By the classes of PostgreSQL's appendix A.
fn kind_of_state(state: &str) -> Kind {
    match state.get(..2) {
        // Data exception, integrity constraint.
        Some("22" | "23") => Kind::Rejected,
        // Connection, transaction state (read-only, idle timeout), rollback (deadlock, serialisation), resources,
        // object in use, operator intervention, system error.
        Some("08" | "25" | "40" | "53" | "55" | "57" | "58") => Kind::Unavailable,
        Some(_) | None => Kind::Failing,
    }
}

fn postgres_in<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a tokio_postgres::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Failure, Kind, kind_of_state};
    use crate::EffectError;

    #[test]
    fn a_refused_value_is_looked_for_and_a_lost_server_is_waited_for() {
        for (state, expected) in [
            ("22021", Kind::Rejected),
            ("23514", Kind::Rejected),
            ("40P01", Kind::Unavailable),
            ("25006", Kind::Unavailable),
            ("57P01", Kind::Unavailable),
            ("42P01", Kind::Failing),
            ("0A000", Kind::Failing),
            ("XX000", Kind::Failing),
        ] {
            assert_eq!(kind_of_state(state), expected, "{state}");
        }
    }

    #[test]
    fn an_error_that_is_not_postgres_own_is_no_reason_to_give_the_connection_up() {
        let failure = Failure::from(EffectError::failed("no such counter"));
        assert!(matches!(failure, Failure::Failing(_)));
        assert_eq!(failure.chain(), "the batch fails: no such counter");
    }
}
