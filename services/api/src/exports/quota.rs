//! What a tenant may have: judged in the transaction that accepts, under the tenant's turn, before anything of the export is
//! stored.

use jiff::Timestamp;
use tokio_postgres::Transaction;
use waybill_domain::ids::TenantId;
use waybill_store::quota::{self, Used};

use super::failure::Failure;
use crate::problem::{Kind, Problem};

/// The longest `Retry-After`: a day, in which anything may change.
const RETRY_AFTER_SECONDS_MAX: i64 = 86_400;
/// The time over which is looked how fast a tenant's exports end.
const PACE_SECONDS: i64 = 600;
/// The longest that a tenant is asked to wait for a free place among its waiting exports.
const PLACE_SECONDS_MAX: i64 = 60;

/// What there is too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quota {
    Waiting,
    RowsADay,
    BytesKept,
}

impl Quota {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::RowsADay => "rows_a_day",
            Self::BytesKept => "bytes_kept",
        }
    }
}

/// A quota that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Exhausted {
    quota: Quota,
    limit: i64,
    used: i64,
}

/// Lets one more export of the tenant be, or says which quota it would be beyond.
pub(super) async fn admit(tx: &Transaction<'_>, tenant_id: &TenantId) -> Result<(), Failure> {
    // The tenant is one: the key's row says so, and tenants are never removed.
    let Some(used) = quota::used_in_turn(tx, tenant_id).await? else { return Ok(()) };
    let Some(exhausted) = exhausted(&used) else { return Ok(()) };
    let seconds = match exhausted.quota {
        Quota::Waiting => {
            let ended = quota::ended_lately(tx, tenant_id, PACE_SECONDS).await?;
            (PACE_SECONDS / ended.max(1)).clamp(1, PLACE_SECONDS_MAX)
        }
        Quota::RowsADay => until(used.day_ends_at, used.now),
        Quota::BytesKept => {
            let free_at = quota::bytes_free_at(tx, tenant_id, exhausted.limit).await?;
            free_at.map_or(RETRY_AFTER_SECONDS_MAX, |free_at| until(free_at, used.now))
        }
    };
    Err(refused(exhausted, seconds).into())
}

/// The first quota, in the order of how soon it passes, that leaves no room.
fn exhausted(used: &Used) -> Option<Exhausted> {
    let beyond = |quota, limit: Option<i64>, used: Option<i64>| {
        let (limit, used) = (limit?, used?);
        (used >= limit).then_some(Exhausted { quota, limit, used })
    };
    let limits = used.limits;
    beyond(Quota::Waiting, Some(limits.waiting.into()), Some(used.waiting))
        .or_else(|| beyond(Quota::RowsADay, limits.rows_a_day, used.rows_a_day))
        .or_else(|| beyond(Quota::BytesKept, limits.bytes_kept, used.bytes_kept))
}

/// Whole seconds, a part of one counted as one, from now until then.
fn until(then: Timestamp, now: Timestamp) -> i64 {
    let milliseconds = then.as_millisecond().saturating_sub(now.as_millisecond());
    (milliseconds.saturating_add(999) / 1_000).clamp(1, RETRY_AFTER_SECONDS_MAX)
}

fn refused(exhausted: Exhausted, seconds: i64) -> Problem {
    let Exhausted { quota, limit, used } = exhausted;
    let what = match quota {
        Quota::Waiting => "exports that wait",
        Quota::RowsADay => "rows in this day's results",
        Quota::BytesKept => "bytes in the results that are kept",
    };
    Problem::new(&Kind::QUOTA_EXCEEDED, format!("The tenant has {used} {what}; it may have {limit}."))
        .with("quota", quota.as_str().into())
        .with("limit", limit.into())
        .with("used", used.into())
        .retry_after(u32::try_from(seconds).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use waybill_store::tenant::Limits;

    use super::*;

    fn used(waiting: i64, rows_a_day: Option<i64>, bytes_kept: Option<i64>) -> Used {
        let now = Timestamp::UNIX_EPOCH;
        let limits = Limits { running: 1, waiting: 2, rows_a_day: Some(10), bytes_kept: Some(100) };
        Used { limits, waiting, running: 9, rows_a_day, bytes_kept, day_ends_at: now, now }
    }

    #[test]
    fn there_is_room_below_every_limit_and_none_at_one() {
        assert_eq!(exhausted(&used(1, Some(9), Some(99))), None);
        let quota = |used| exhausted(&used).map(|exhausted| exhausted.quota);
        assert_eq!(quota(used(2, Some(0), Some(0))), Some(Quota::Waiting));
        assert_eq!(quota(used(0, Some(10), Some(0))), Some(Quota::RowsADay));
        assert_eq!(quota(used(0, Some(0), Some(101))), Some(Quota::BytesKept));
        assert_eq!(quota(used(2, Some(10), Some(100))), Some(Quota::Waiting), "the soonest to pass");
    }

    #[test]
    fn what_is_not_limited_is_never_too_much() {
        let mut much = used(0, None, None);
        much.limits.rows_a_day = None;
        much.limits.bytes_kept = None;
        assert_eq!(exhausted(&much), None);
    }

    #[test]
    fn the_time_to_wait_is_never_too_short_and_has_a_bound() {
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        assert_eq!(until(at(1_001), at(0)), 2);
        assert_eq!(until(at(0), at(5_000)), 1);
        assert_eq!(until(at(i64::from(u32::MAX)), at(0)), RETRY_AFTER_SECONDS_MAX);
    }
}
