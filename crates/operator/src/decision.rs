//! What is decided about an outbox: carried out, and shown as it was and as it is.

use serde_json::{Value, json};
use tokio_postgres::GenericClient;
use waybill_outbox::hold;
use waybill_outbox::parked::{self, Decided, Decision, Filter, Verb};

use crate::error::Error;
use crate::parked::{find, shown};
use crate::refusal::Refusal;

/// What somebody wants decided.
#[derive(Debug, Clone, Copy)]
pub enum Proposal<'a> {
    /// One parked row is sent once more, or never.
    Row {
        /// Which of the two.
        verb: Verb,
        /// The row.
        seq: i64,
    },
    /// All that one cause keeps is.
    Matching {
        /// Which of the two.
        verb: Verb,
        /// The cause, by topic, code or both.
        filter: Filter<'a>,
    },
    /// The topic of that name is another one now, and may be sent to.
    Topic {
        /// Its whole name.
        topic: &'a str,
        /// The id that it has now.
        topic_id: &'a str,
    },
}

/// What was decided, in a transaction that is still open.
#[derive(Debug)]
pub struct Outcome {
    /// The subject as it was.
    pub before: Value,
    /// The subject as it is now.
    pub after: Value,
}

impl<'a> Proposal<'a> {
    /// A decision about the row of this number, as it was written.
    ///
    /// # Errors
    /// [`Refusal::NotParked`]: no row has such a number.
    pub fn row(verb: Verb, seq: &str) -> Result<Self, Refusal> {
        let seq = seq.parse().map_err(|_malformed| Refusal::not_parked(&seq))?;
        Ok(Self::Row { verb, seq })
    }

    /// A decision about all rows of a topic, with a code, or both.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] without either.
    pub fn matching(verb: Verb, topic: Option<&'a str>, code: Option<&'a str>) -> Result<Self, Refusal> {
        if topic.is_none() && code.is_none() {
            let problem = "must be given, or code, so that not everything is meant";
            return Err(Refusal::invalid("topic", problem));
        }
        Ok(Self::Matching { verb, filter: Filter { topic, code } })
    }

    /// A decision about a topic's id.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] when either is empty.
    pub fn topic(topic: &'a str, topic_id: &'a str) -> Result<Self, Refusal> {
        for (field, value) in [("topic", topic), ("topic_id", topic_id)] {
            if value.is_empty() {
                return Err(Refusal::invalid(field, "must be given"));
            }
        }
        Ok(Self::Topic { topic, topic_id })
    }

    /// What is decided, as the records of decisions have it.
    #[must_use]
    pub const fn action(&self) -> &'static str {
        match self {
            Self::Row { verb: Verb::Retry, .. } | Self::Matching { verb: Verb::Retry, .. } => "parked.retry",
            Self::Row { verb: Verb::Discard, .. } | Self::Matching { verb: Verb::Discard, .. } => {
                "parked.discard"
            }
            Self::Topic { .. } => "outbox.accept-topic",
        }
    }

    /// What it is decided about, as the records of decisions have it.
    #[must_use]
    pub fn subject(&self) -> String {
        match self {
            Self::Row { seq, .. } => seq.to_string(),
            Self::Matching { filter: Filter { topic, code }, .. } => {
                json!({ "topic": topic, "code": code }).to_string()
            }
            Self::Topic { topic, .. } => (*topic).to_owned(),
        }
    }
}

impl Outcome {
    /// What whoever decided is answered: the subject as it is, or, where nothing was kept, as it would be, with what it is.
    #[must_use]
    pub fn answer(self, is_dry_run: bool) -> Value {
        let Self { before, mut after } = self;
        if is_dry_run {
            after["dry_run"] = true.into();
            after["before"] = before;
        }
        after
    }
}

/// Carries a decision of `by` out, for `reason`, in the caller's transaction.
///
/// # Errors
/// [`Error`]; nothing is to be kept then.
pub async fn carry_out(
    tx: &impl GenericClient,
    proposal: &Proposal<'_>,
    by: &str,
    reason: &str,
) -> Result<Outcome, Error> {
    match *proposal {
        Proposal::Row { verb, seq } => one(tx, seq, Decision { verb, by, reason }).await,
        Proposal::Matching { verb, filter } => many(tx, filter, Decision { verb, by, reason }).await,
        Proposal::Topic { topic, topic_id } => {
            let before = hold::accept_topic(tx, topic, topic_id, by, reason).await?;
            let before = before.ok_or_else(|| Refusal::TopicUnrecorded { topic: topic.to_owned() })?;
            let shown = |topic_id: &str| json!({ "topic": topic, "topic_id": topic_id });
            Ok(Outcome { before: shown(&before), after: shown(topic_id) })
        }
    }
}

async fn one(tx: &impl GenericClient, seq: i64, decision: Decision<'_>) -> Result<Outcome, Error> {
    let before = find(tx, seq).await?;
    match parked::decide(tx, seq, decision).await?.ok_or_else(|| Refusal::not_parked(&seq))? {
        Decided::Done(_) => {}
        Decided::Rejected(rejection) => return Err(Refusal::Rejected { seq, rejection }.into()),
    }
    let after = find(tx, seq).await?;
    Ok(Outcome { before: shown(&before), after: shown(&after) })
}

async fn many(tx: &impl GenericClient, filter: Filter<'_>, decision: Decision<'_>) -> Result<Outcome, Error> {
    let matching = parked::decide_matching(tx, filter, decision).await?;
    let Filter { topic, code } = filter;
    let shown = |rows: u64, holds: u64| json!({ "topic": topic, "code": code, "rows": rows, "holds": holds });
    let mut after = shown(matching.rows, matching.holds);
    after["more"] = matching.more.into();
    Ok(Outcome { before: shown(0, 0), after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_that_could_mean_everything_or_nothing_is_none() {
        assert_eq!(Proposal::row(Verb::Retry, "one").err(), Some(Refusal::NotParked { seq: "one".into() }));
        let field = |proposal: Result<Proposal<'_>, Refusal>| match proposal {
            Err(Refusal::Invalid { field, .. }) => field,
            other => panic!("{other:?}"),
        };
        assert_eq!(field(Proposal::matching(Verb::Discard, None, None)), "topic");
        assert_eq!(field(Proposal::topic("", "id")), "topic");
        assert_eq!(field(Proposal::topic("shop.orders", "")), "topic_id");
    }

    #[test]
    fn the_record_of_a_decision_says_what_it_was_about() {
        let row = Proposal::row(Verb::Discard, "101").unwrap();
        assert_eq!((row.action(), row.subject().as_str()), ("parked.discard", "101"));
        let many = Proposal::matching(Verb::Retry, None, Some("relay-row-refused")).unwrap();
        assert_eq!(many.action(), "parked.retry");
        assert_eq!(many.subject(), r#"{"topic":null,"code":"relay-row-refused"}"#);
        let topic = Proposal::topic("shop.orders", "new").unwrap();
        assert_eq!((topic.action(), topic.subject().as_str()), ("outbox.accept-topic", "shop.orders"));
    }
}
