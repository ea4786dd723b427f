//! Parked rows as a person looks at them.

use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};

use super::ParkedError;
use crate::hold::Scope;

/// The most bytes of a payload that are shown.
pub const PAYLOAD_BYTES_SHOWN_MAX: i32 = 65_536;

/// The most rows behind a row that are counted.
pub const BEHIND_COUNTED_MAX: i64 = 10_000;

/// Where a parked row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Kafka will not have it, alone.
    Refused,
    /// It is sent when its turn comes.
    Waiting,
    /// It was sent after all.
    Sent,
    /// A person decided that it is never sent.
    Discarded,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Refused, Self::Waiting, Self::Sent, Self::Discarded];

    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Waiting => "waiting",
            Self::Sent => "sent",
            Self::Discarded => "discarded",
        }
    }

    /// The state of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether nothing more happens to the row.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Sent | Self::Discarded)
    }

    pub(super) fn of(word: &str) -> Result<Self, ParkedError> {
        Self::parse(word).ok_or_else(|| ParkedError::Unknown { what: "state", word: word.to_owned() })
    }
}

/// The scope of that name.
pub(crate) fn scope_of(word: &str) -> Result<Scope, ParkedError> {
    Scope::parse(word).ok_or_else(|| ParkedError::Unknown { what: "scope", word: word.to_owned() })
}

/// Which rows are wanted; what is `None` does not matter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// The Kafka topic.
    pub topic: Option<&'a str>,
    /// The code of the row's last refusal or else of its hold.
    pub code: Option<&'a str>,
}

/// A place in the list of undecided rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The hold.
    pub hold_id: i64,
    /// The row of it.
    pub seq: i64,
}

/// A row in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its place in the outbox.
    pub seq: i64,
    /// The hold that it is under.
    pub hold_id: i64,
    /// What that holds.
    pub scope: Scope,
    /// Where it stands.
    pub state: State,
    /// The Kafka topic.
    pub topic: String,
    /// The record's key.
    pub key: Option<Vec<u8>>,
    /// The event's identity, in its writer's words.
    pub event_id: String,
    /// The size of its value; `None` for a tombstone.
    pub payload_bytes: Option<i64>,
    /// Why it is not sent: the row's own refusal, or what its hold says.
    pub code: String,
    /// The same in words.
    pub detail: String,
    /// How often it was refused, alone.
    pub refusals: i32,
    /// When its transaction began.
    pub created_at: Timestamp,
    /// When the cursor passed it.
    pub parked_at: Timestamp,
    /// Who decided about it last.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<Timestamp>,
    /// Why.
    pub decision_reason: Option<String>,
    /// When Kafka acknowledged it after all.
    pub sent_at: Option<Timestamp>,
}

impl Listed {
    /// Where the list goes on after this row.
    pub fn place(&self) -> Place {
        Place { hold_id: self.hold_id, seq: self.seq }
    }
}

/// Why rows wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The code under which it began.
    pub code: String,
    /// The same in words.
    pub detail: String,
    /// Since when.
    pub held_at: Timestamp,
    /// When it was asked last that its rows are sent.
    pub resume_requested_at: Option<Timestamp>,
    /// When nothing of it was left.
    pub ended_at: Option<Timestamp>,
}

/// A row whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What a list says of it.
    pub row: Listed,
    /// The record's headers.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    /// The record's value up to [`PAYLOAD_BYTES_SHOWN_MAX`].
    pub payload: Option<Vec<u8>>,
    /// Its hold.
    pub hold: Hold,
    /// How many undecided rows of its hold come after it, counted up to [`BEHIND_COUNTED_MAX`].
    pub behind: i64,
}

/// Rows that are refused or wait, hold by hold; `state` narrows it to one of the two.
///
/// # Errors
/// [`ParkedError`].
pub async fn undecided(
    db: &impl GenericClient,
    filter: Filter<'_>,
    state: Option<State>,
    after: Place,
    limit: i64,
) -> Result<Vec<Listed>, ParkedError> {
    let rows = db
        .query_typed(
            include_str!("undecided.sql"),
            &[
                (&filter.topic, Type::TEXT),
                (&filter.code, Type::TEXT),
                (&state.map(State::as_str), Type::TEXT),
                (&after.hold_id, Type::INT8),
                (&after.seq, Type::INT8),
                (&limit, Type::INT8),
            ],
        )
        .await?;
    rows.iter().map(listed).collect()
}

/// Rows that were sent or discarded, in the order of `seq`.
///
/// # Errors
/// [`ParkedError`].
pub async fn settled(
    db: &impl GenericClient,
    filter: Filter<'_>,
    state: State,
    after_seq: i64,
    limit: i64,
) -> Result<Vec<Listed>, ParkedError> {
    let rows = db
        .query_typed(
            include_str!("settled.sql"),
            &[
                (&filter.topic, Type::TEXT),
                (&filter.code, Type::TEXT),
                (&state.as_str(), Type::TEXT),
                (&after_seq, Type::INT8),
                (&limit, Type::INT8),
            ],
        )
        .await?;
    rows.iter().map(listed).collect()
}

/// One row whole, if it was ever parked.
///
/// # Errors
/// [`ParkedError`].
pub async fn show(db: &impl GenericClient, seq: i64) -> Result<Option<Shown>, ParkedError> {
    let parameters: &[(&(dyn tokio_postgres::types::ToSql + Sync), Type)] =
        &[(&seq, Type::INT8), (&PAYLOAD_BYTES_SHOWN_MAX, Type::INT4), (&BEHIND_COUNTED_MAX, Type::INT8)];
    let found = db.query_typed_opt(include_str!("show.sql"), parameters).await?;
    found
        .map(|row| {
            let names: Vec<String> = row.try_get("header_names")?;
            let values: Vec<Option<Vec<u8>>> = row.try_get("header_values")?;
            Ok(Shown {
                row: listed(&row)?,
                headers: names.into_iter().zip(values).collect(),
                payload: row.try_get("payload")?,
                hold: Hold {
                    code: row.try_get("hold_code")?,
                    detail: row.try_get("hold_detail")?,
                    held_at: row.try_get("held_at")?,
                    resume_requested_at: row.try_get("resume_requested_at")?,
                    ended_at: row.try_get("ended_at")?,
                },
                behind: row.try_get("behind")?,
            })
        })
        .transpose()
}

fn listed(row: &Row) -> Result<Listed, ParkedError> {
    Ok(Listed {
        seq: row.try_get("seq")?,
        hold_id: row.try_get("hold_id")?,
        scope: scope_of(row.try_get("scope")?)?,
        state: State::of(row.try_get("state")?)?,
        topic: row.try_get("topic")?,
        key: row.try_get("key")?,
        event_id: row.try_get("event_id")?,
        payload_bytes: row.try_get("payload_bytes")?,
        code: row.try_get("code")?,
        detail: row.try_get("detail")?,
        refusals: row.try_get("refusals")?,
        created_at: row.try_get("created_at")?,
        parked_at: row.try_get("parked_at")?,
        decided_by: row.try_get("decided_by")?,
        decided_at: row.try_get("decided_at")?,
        decision_reason: row.try_get("decision_reason")?,
        sent_at: row.try_get("sent_at")?,
    })
}
