//! How an outbox stands.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_postgres::GenericClient;
use waybill_outbox::status::{self, Horizon, Position, StandingHold, Waiting};
use waybill_outbox::upkeep;

use crate::error::Error;

/// Everything that is said of an outbox.
struct Status {
    position: Position,
    waiting: Waiting,
    rows_per_second: f64,
    holds_standing: i64,
    holds: Vec<StandingHold>,
    horizon: Option<Horizon>,
    days_ahead: i64,
}

/// `{"outboxes": […]}` with the one that is called `name`. It is of one moment in a transaction of repeatable read.
///
/// # Errors
/// [`Error`].
pub async fn status(tx: &impl GenericClient, name: &str) -> Result<Value, Error> {
    let position = status::position(tx).await?.ok_or(Error::CursorMissing)?;
    let (holds_standing, holds) = status::holds(tx).await?;
    let status = Status {
        waiting: status::waiting(tx, &position).await?,
        rows_per_second: status::rate(tx).await?,
        horizon: status::horizon(tx).await?,
        days_ahead: upkeep::days_ahead(tx).await?,
        position,
        holds_standing,
        holds,
    };
    Ok(json!({ "outboxes": [shown(name, &status)] }))
}

fn shown(name: &str, status: &Status) -> Value {
    let Status { position, waiting, holds, .. } = status;
    let window = &position.window;
    let refused: i64 = holds.iter().map(|hold| hold.rows.refused).sum();
    let behind: i64 = holds.iter().map(|hold| hold.rows.waiting).sum();
    json!({
        "outbox": name,
        "asked_at": position.asked_at,
        "holder": position.holder,
        "fence": position.fence,
        "lease_remaining_ms": milliseconds(position.lease_remaining),
        "window": {
            "from": window.from.to_string(),
            "to": window.to.to_string(),
            "after_seq": window.after_seq,
            "transactions": window.to.xmax().0.saturating_sub(window.from.xmax().0),
            "is_drained": window.is_drained(),
            "moved_at": position.moved_at,
            "moved_age_ms": age_ms(position, position.moved_at),
        },
        "restore": {
            "floor_seq": window.floor_seq,
            "resend_after_seq": window.resend_after_seq,
        },
        "server": position.identity.as_ref().map(|identity| json!({
            "system_identifier": identity.system_identifier,
            "timeline": identity.timeline,
        })),
        "waiting": {
            "rows": waiting.rows,
            "is_exact": waiting.is_exact,
            "bytes_estimate": waiting.bytes_estimate,
            "oldest_at": waiting.oldest_at,
            "oldest_age_ms": waiting.oldest_at.map(|at| age_ms(position, at)),
        },
        "rows_per_second": status.rows_per_second,
        "parked": {
            "refused": refused,
            "waiting": behind,
            "is_exact": holds.iter().all(|hold| hold.rows.is_exact) && is_whole(status),
        },
        "holds_standing": status.holds_standing,
        "holds": holds.iter().map(held).collect::<Vec<_>>(),
        "cleaning_held_back_by": status.horizon.as_ref().map(|horizon| json!({
            "kind": horizon.kind,
            "name": horizon.name,
            "xid": horizon.xid,
            "age_transactions": horizon.age,
            "since": horizon.since,
        })),
        "partition_days_ahead": status.days_ahead,
    })
}

/// Whether every hold that stands is shown.
fn is_whole(status: &Status) -> bool {
    usize::try_from(status.holds_standing) == Ok(status.holds.len())
}

/// How long before the question a moment was, by the database's clock.
fn age_ms(position: &Position, at: Timestamp) -> u64 {
    milliseconds(position.age_of(at))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn held(hold: &StandingHold) -> Value {
    json!({
        "hold_id": hold.hold_id,
        "scope": hold.scope.as_str(),
        "topic": hold.topic,
        "key": hold.key.as_deref().map(|key| BASE64.encode(key)),
        "code": hold.code,
        "detail": hold.detail,
        "held_at": hold.held_at,
        "resume_requested_at": hold.resume_requested_at,
        "refused": hold.rows.refused,
        "waiting": hold.rows.waiting,
        "is_exact": hold.rows.is_exact,
        "oldest_at": hold.rows.oldest_at,
    })
}
