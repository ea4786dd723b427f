//! What a person decides about one parked row.

use tokio_postgres::GenericClient;
use tokio_postgres::types::Type;

use super::ParkedError;
use super::row::State;

/// What is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Its cause is gone: send it, in order.
    Retry,
    /// Never send it; what waits behind it goes on.
    Discard,
}

impl Verb {
    /// Where an undecided row comes to stand.
    pub(super) const fn leads_to(self) -> State {
        match self {
            Self::Retry => State::Waiting,
            Self::Discard => State::Discarded,
        }
    }
}

/// A decision with who made it and why.
#[derive(Debug, Clone, Copy)]
pub struct Decision<'a> {
    /// What.
    pub verb: Verb,
    /// Who.
    pub by: &'a str,
    /// Why; not empty.
    pub reason: &'a str,
}

/// What follows from a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The row comes to stand there.
    To(State),
    /// The row stands where the decision would put it: only its hold is asked to go on.
    Nothing,
}

/// Why a decision is not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The row is settled, and the other way.
    #[error("the row was {} already", .state.as_str())]
    Settled {
        /// How.
        state: State,
    },
    /// It waits behind a row that is refused, and would overtake it.
    #[error("the row waits behind row {refused_seq} of its key, which is refused")]
    Behind {
        /// The row to decide about first.
        refused_seq: i64,
    },
}

/// Decides what a decision about the row `seq` does, given where it stands and the first refused row of its hold. The same
/// decision again changes nothing and is no error.
pub fn judge(verb: Verb, seq: i64, state: State, first_refused: Option<i64>) -> Result<Change, Rejection> {
    match (verb, state) {
        (Verb::Retry, State::Waiting) => match first_refused.filter(|refused| *refused < seq) {
            Some(refused_seq) => Err(Rejection::Behind { refused_seq }),
            None => Ok(Change::Nothing),
        },
        (Verb::Retry, State::Sent) | (Verb::Discard, State::Discarded) => Ok(Change::Nothing),
        (Verb::Retry, State::Discarded) | (Verb::Discard, State::Sent) => Err(Rejection::Settled { state }),
        (Verb::Retry, State::Refused) | (Verb::Discard, State::Refused | State::Waiting) => {
            Ok(Change::To(verb.leads_to()))
        }
    }
}

/// What became of a decision about one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    /// It stands, and the hold goes on where it can.
    Done(Change),
    /// It was not carried out.
    Rejected(Rejection),
}

/// Carries out a decision in the caller's transaction. `None`: no such row was ever parked.
///
/// # Errors
/// [`ParkedError`].
pub async fn decide(
    tx: &impl GenericClient,
    seq: i64,
    decision: Decision<'_>,
) -> Result<Option<Decided>, ParkedError> {
    let found = tx.query_typed_opt(include_str!("lock.sql"), &[(&seq, Type::INT8)]).await?;
    let Some(row) = found else { return Ok(None) };
    let state = State::of(row.try_get("state")?)?;
    let hold_id: i64 = row.try_get("hold_id")?;
    let change = match judge(decision.verb, seq, state, row.try_get("first_refused")?) {
        Ok(change) => change,
        Err(rejection) => return Ok(Some(Decided::Rejected(rejection))),
    };
    if let Change::To(state) = change {
        tx.execute_typed(
            include_str!("decide.sql"),
            &[
                (&seq, Type::INT8),
                (&state.as_str(), Type::TEXT),
                (&decision.by, Type::TEXT),
                (&decision.reason, Type::TEXT),
            ],
        )
        .await?;
    }
    resume(tx, &[hold_id]).await?;
    Ok(Some(Decided::Done(change)))
}

/// Asks the relay to go on with those of the holds that stand and have no refused row left.
pub(super) async fn resume(tx: &impl GenericClient, hold_ids: &[i64]) -> Result<u64, ParkedError> {
    Ok(tx.execute_typed(include_str!("resume.sql"), &[(&hold_ids, Type::INT8_ARRAY)]).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undecided_row_goes_where_the_decision_says() {
        assert_eq!(judge(Verb::Retry, 5, State::Refused, Some(5)), Ok(Change::To(State::Waiting)));
        assert_eq!(judge(Verb::Discard, 5, State::Refused, Some(5)), Ok(Change::To(State::Discarded)));
        assert_eq!(judge(Verb::Discard, 6, State::Waiting, Some(5)), Ok(Change::To(State::Discarded)));
    }

    #[test]
    fn the_same_decision_again_is_no_error_and_the_other_one_is() {
        assert_eq!(judge(Verb::Retry, 5, State::Waiting, None), Ok(Change::Nothing));
        assert_eq!(judge(Verb::Retry, 5, State::Sent, None), Ok(Change::Nothing), "it was carried out");
        assert_eq!(judge(Verb::Discard, 5, State::Discarded, None), Ok(Change::Nothing));
        for (verb, state) in [(Verb::Retry, State::Discarded), (Verb::Discard, State::Sent)] {
            assert_eq!(judge(verb, 5, state, None), Err(Rejection::Settled { state }));
        }
    }

    #[test]
    fn a_row_never_overtakes_the_refused_one_before_it() {
        let behind = Err(Rejection::Behind { refused_seq: 5 });
        assert_eq!(judge(Verb::Retry, 6, State::Waiting, Some(5)), behind);
        assert_eq!(judge(Verb::Retry, 4, State::Waiting, Some(5)), Ok(Change::Nothing));
    }
}
