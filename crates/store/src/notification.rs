//! Notifications: what somebody is told, once, and the evidence of every try.
//!
//! The identity (fact, channel, target, kind) is unique for ever. An attempt is committed as `sending` before its first
//! byte leaves; every later write is conditional on it still being so. Deliberately absent: any way to send an unknown
//! again, and any way to lower a high-water mark.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio_postgres::types::ToSql;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::export::Channel;
use waybill_domain::ids::{ExportId, NotificationId, TenantId};

use crate::StoreError;

/// A notification to be made from a fact, its content rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNotification {
    /// Its identity.
    pub notification_id: NotificationId,
    /// The fact's source: with `event_id`, the cause.
    pub source: String,
    /// The fact's id.
    pub event_id: String,
    /// By which way it is told.
    pub channel: Channel,
    /// The mail address or the URL.
    pub target: String,
    /// Which of the things that one fact may tell one target.
    pub kind: &'static str,
    /// Whose export it is.
    pub tenant_id: TenantId,
    /// The export that it is about.
    pub export_id: ExportId,
    /// The mail's subject; none for a webhook.
    pub subject: Option<String>,
    /// The mail's text, or the webhook's request body byte for byte.
    pub body: String,
}

/// A notification that a sender has just taken: its attempt is committed as `sending`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// Its identity.
    pub notification_id: NotificationId,
    /// The number of this attempt, from 1.
    pub attempt: i32,
    /// By which way it is told.
    pub channel: Channel,
    /// The mail address or the URL.
    pub target: String,
    /// Whose export it is.
    pub tenant_id: TenantId,
    /// The export that it is about.
    pub export_id: ExportId,
    /// The mail's subject; none for a webhook.
    pub subject: Option<String>,
    /// The mail's text, or the webhook's request body.
    pub body: String,
    /// When the notification was made: a mail's date on every attempt.
    pub created_at: Timestamp,
    /// How many passing failures of its own it had before this attempt.
    pub failures: i32,
    /// How long ago its first attempt began; nothing for the first attempt itself.
    pub tried_for: Duration,
}

/// How an attempt is recorded to have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The other side took it. Accepted is not read.
    Accepted,
    /// It will never be taken, or nobody tries any longer.
    Rejected,
    /// It was surely not taken; the notification is due again.
    Retry {
        /// After how long.
        delay: Duration,
        /// Whether the failure was the notification's own, and not that of its whole channel.
        own: bool,
    },
    /// Nobody knows.
    Unknown,
}

impl AttemptEnd {
    /// The stored spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Retry { .. } => "retry",
            Self::Unknown => "unknown",
        }
    }
}

/// An attempt that the sweeper found in `sending` after its deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// The notification, now unknown.
    pub notification_id: NotificationId,
    /// By which way it was being told.
    pub channel: Channel,
    /// The attempt's number.
    pub attempt: i32,
}

/// How many notifications stand where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Waiting for their due time or for a sender.
    pub pending: i64,
    /// Attempts under way.
    pub sending: i64,
    /// Outcomes that nobody knows.
    pub unknown: i64,
    /// How long the most overdue pending notification has been due, in seconds; none when nothing is pending.
    pub oldest_pending_seconds: Option<f64>,
}

/// Where facts stop and start making notifications, for one partition of one incarnation of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// The topic's id, which a deleted and recreated topic does not keep.
    pub topic_id: &'a str,
    /// The partition's number.
    pub partition: i32,
}

/// Makes notifications. Those whose identity exists already are left as they are. Returns how many are new.
///
/// # Errors
/// Postgres refused or the connection was lost.
pub async fn insert_all(db: &impl GenericClient, new: &[NewNotification]) -> Result<u64, StoreError> {
    let statement = include_str!("notification/insert_all.sql");
    let column = |of: fn(&NewNotification) -> &str| new.iter().map(of).collect::<Vec<&str>>();
    let subjects: Vec<Option<&str>> = new.iter().map(|new| new.subject.as_deref()).collect();
    let parameters: [&(dyn ToSql + Sync); 10] = [
        &column(|new| new.notification_id.as_str()),
        &column(|new| &new.source),
        &column(|new| &new.event_id),
        &column(|new| new.channel.as_str()),
        &column(|new| &new.target),
        &column(|new| new.kind),
        &column(|new| new.tenant_id.as_str()),
        &column(|new| new.export_id.as_str()),
        &subjects,
        &column(|new| &new.body),
    ];
    Ok(db.execute(statement, &parameters).await?)
}

/// Bounds each statement of the transaction `tx`, and the time between two of them, so that a claim whose client has
/// given up does not stand later. The bound holds in whole milliseconds, and not for the commit.
///
/// # Errors
/// Postgres refused or the connection was lost.
pub async fn bound_transaction(tx: &impl GenericClient, limit: Duration) -> Result<(), StoreError> {
    let statement = include_str!("notification/bound_transaction.sql");
    tx.query_one(statement, &[&milliseconds(limit).to_string()]).await?;
    Ok(())
}

/// Takes due notifications for the claim `sender`: of each channel in `free` at most so many. Each attempt may be sent
/// until `deadline` from now by the database's clock, once the claim is committed.
///
/// # Errors
/// Postgres refused, the connection was lost, or a row could not be decoded. Outside a transaction the claim may stand
/// nevertheless, as it may after a commit without an answer: see [`return_unsent`].
pub async fn claim_due(
    db: &impl GenericClient,
    sender: &str,
    free: &[(Channel, i64)],
    deadline: Duration,
) -> Result<Vec<Claimed>, StoreError> {
    let statement = include_str!("notification/claim_due.sql");
    let (channels, places): (Vec<&str>, Vec<i64>) =
        free.iter().map(|(channel, places)| (channel.as_str(), *places)).unzip();
    let rows = db.query(statement, &[&sender, &channels, &places, &milliseconds(deadline)]).await?;
    rows.iter().map(claimed).collect()
}

/// Records what became of an attempt. `false`: it is no longer `sending`, nothing was changed.
///
/// # Errors
/// Postgres refused or the connection was lost.
pub async fn record_outcome(
    db: &impl GenericClient,
    notification_id: &NotificationId,
    attempt: i32,
    end: AttemptEnd,
    evidence: &Value,
) -> Result<bool, StoreError> {
    let statement = include_str!("notification/record_outcome.sql");
    let (delay_ms, failures) = match end {
        AttemptEnd::Retry { delay, own } => (Some(milliseconds(delay)), i32::from(own)),
        AttemptEnd::Accepted | AttemptEnd::Rejected | AttemptEnd::Unknown => (None, 0),
    };
    let parameters: [&(dyn ToSql + Sync); 6] =
        [&notification_id.as_str(), &attempt, &end.as_str(), &evidence, &delay_ms, &failures];
    Ok(db.execute(statement, &parameters).await? == 1)
}

/// Turns at most `limit` attempts that are `sending` longer than `grace` past their deadline into unknown ones.
///
/// # Errors
/// Postgres refused, the connection was lost, or a row could not be decoded.
pub async fn sweep_overdue(
    db: &impl GenericClient,
    grace: Duration,
    limit: i64,
    evidence: &Value,
) -> Result<Vec<Swept>, StoreError> {
    let statement = include_str!("notification/sweep_overdue.sql");
    let rows = db.query(statement, &[&milliseconds(grace), &limit, &evidence]).await?;
    rows.iter()
        .map(|row| {
            Ok(Swept {
                notification_id: notification_id(row)?,
                channel: channel(row)?,
                attempt: row.try_get("attempts")?,
            })
        })
        .collect()
}

/// Makes everything due again that the claim `sender` took although its answer never came back, so that nothing of it
/// can have been sent. Returns how many notifications that were.
///
/// # Errors
/// Postgres refused or the connection was lost.
pub async fn return_unsent(
    db: &impl GenericClient,
    sender: &str,
    evidence: &Value,
) -> Result<u64, StoreError> {
    Ok(db.execute(include_str!("notification/return_unsent.sql"), &[&sender, &evidence]).await?)
}

/// Locks a partition's high-water mark and gives it: facts at an offset below it make no notification.
///
/// # Errors
/// Postgres refused or the connection was lost.
pub async fn lock_high_water(db: &impl GenericClient, of: &Partition<'_>) -> Result<i64, StoreError> {
    let statement = include_str!("notification/lock_high_water.sql");
    let row = db.query_one(statement, &[&of.topic, &of.topic_id, &of.partition]).await?;
    Ok(row.try_get("next_offset")?)
}

/// Raises a partition's high-water mark to `next_offset`. `false`: it stands there or higher, nothing was changed.
///
/// # Errors
/// Postgres refused or the connection was lost.
pub async fn raise_high_water(
    db: &impl GenericClient,
    of: &Partition<'_>,
    next_offset: i64,
) -> Result<bool, StoreError> {
    let statement = include_str!("notification/raise_high_water.sql");
    Ok(db.execute(statement, &[&of.topic, &of.topic_id, &of.partition, &next_offset]).await? == 1)
}

/// Counts what is pending, sending and unknown.
///
/// # Errors
/// Postgres refused or the connection was lost.
pub async fn observe(db: &impl GenericClient) -> Result<Observed, StoreError> {
    let row = db.query_one(include_str!("notification/observe.sql"), &[]).await?;
    Ok(Observed {
        pending: row.try_get("pending")?,
        sending: row.try_get("sending")?,
        unknown: row.try_get("unknown")?,
        oldest_pending_seconds: row.try_get("oldest_pending_seconds")?,
    })
}

/// Counts what is due of the given channels. A channel of which nothing is due is not in the answer.
///
/// # Errors
/// Postgres refused, the connection was lost, or a row could not be decoded.
pub async fn count_due(
    db: &impl GenericClient,
    channels: &[Channel],
) -> Result<Vec<(Channel, i64)>, StoreError> {
    let channels: Vec<&str> = channels.iter().map(|channel| channel.as_str()).collect();
    let rows = db.query(include_str!("notification/count_due.sql"), &[&channels]).await?;
    rows.iter().map(|row| Ok((channel(row)?, row.try_get("due")?))).collect()
}

fn claimed(row: &Row) -> Result<Claimed, StoreError> {
    let tenant_id: &str = row.try_get("tenant_id")?;
    let export_id: &str = row.try_get("export_id")?;
    let tried_for_ms: i64 = row.try_get("tried_for_ms")?;
    Ok(Claimed {
        notification_id: notification_id(row)?,
        attempt: row.try_get("attempts")?,
        channel: channel(row)?,
        target: row.try_get("target")?,
        tenant_id: TenantId::parse(tenant_id).map_err(|error| StoreError::Decode {
            column: "notifications.tenant_id",
            detail: error.to_string(),
        })?,
        export_id: ExportId::parse(export_id).map_err(|error| StoreError::Decode {
            column: "notifications.export_id",
            detail: error.to_string(),
        })?,
        subject: row.try_get("subject")?,
        body: row.try_get("body")?,
        created_at: row.try_get("created_at")?,
        failures: row.try_get("failures")?,
        // A clock that was set back says that no time has passed.
        tried_for: Duration::from_millis(u64::try_from(tried_for_ms).unwrap_or(0)),
    })
}

fn notification_id(row: &Row) -> Result<NotificationId, StoreError> {
    let text: &str = row.try_get("notification_id")?;
    NotificationId::parse(text).map_err(|error| StoreError::Decode {
        column: "notifications.notification_id",
        detail: error.to_string(),
    })
}

fn channel(row: &Row) -> Result<Channel, StoreError> {
    let text: &str = row.try_get("channel")?;
    Channel::parse(text)
        .ok_or_else(|| StoreError::Decode { column: "notifications.channel", detail: text.to_owned() })
}

/// A duration for an SQL interval; longer than any that the database could hold becomes the longest.
fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
