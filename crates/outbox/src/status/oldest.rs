//! When the oldest row came to be that the cursor has not passed, found without looking at those that it has.

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use tokio_postgres::types::{ToSql, Type};

use super::Position;
use super::backlog::to_resend;
use crate::parked::ParkedError;
use crate::window::{Snapshot, Window, Xid};

/// So many transactions are looked at, and so many rows of before a restore: the first to begin is not always the first to
/// write.
const FIRST_ONES_MAX: i64 = 100;

/// So many values of `seq` are looked at behind the last row that was passed, before the window's next ones are searched.
const NEXT_SEQS_MAX: i64 = 1_000;

/// When the oldest of the rows came to be that the cursor has not passed. Costs less than to count them, and no more
/// however many were passed, unless none of an open window is left right behind its last one.
///
/// Answers an older row's time only of those that were looked at: of an open window the rows right behind the last one that
/// was passed, and else the first hundred transactions in the order in which they began to write. One that began before
/// them and wrote after all of them is found when they are passed.
///
/// # Errors
/// [`ParkedError`].
pub async fn oldest(db: &impl GenericClient, position: &Position) -> Result<Option<Timestamp>, ParkedError> {
    let Position { window, ended_by_then: now, .. } = position;
    let resent = to_resend(db, window, FIRST_ONES_MAX).await?.oldest_at;
    let nothing = Snapshot::of_nothing();
    let unsent = if window.is_resend() || (window.is_at_start() && window.from == nothing) {
        // Of this server's own rows none was passed.
        left_over(db, &nothing, now, window.floor_seq).await?
    } else if window.is_at_start() {
        unseen(db, &window.from, now, window.floor_seq).await?
    } else {
        let Window { from, to, after_seq, floor_seq, .. } = window;
        let beyond = unseen(db, to, now, *floor_seq).await?;
        [left_over(db, from, to, *after_seq).await?, beyond].into_iter().flatten().min()
    };
    Ok([resent, unsent].into_iter().flatten().min())
}

/// The first rows after `after_seq` that `to` sees and `from` does not, in the order of their transactions.
async fn unseen(
    db: &impl GenericClient,
    from: &Snapshot,
    to: &Snapshot,
    after_seq: i64,
) -> Result<Option<Timestamp>, ParkedError> {
    let (first, last): (Vec<Xid>, Vec<Xid>) = stretches(from, to).into_iter().unzip();
    let parameters: [(&(dyn ToSql + Sync), Type); 4] = [
        (&first, Type::XID8_ARRAY),
        (&last, Type::XID8_ARRAY),
        (&after_seq, Type::INT8),
        (&FIRST_ONES_MAX, Type::INT8),
    ];
    Ok(db.query_typed_one(include_str!("unseen.sql"), &parameters).await?.try_get("created_at")?)
}

/// What is left of a window that was passed in part. Its next rows come right behind the last one that was passed, unless
/// that is of a transaction that had taken its `seq` long before, or others took many meanwhile: then they are searched
/// among all of the window.
async fn left_over(
    db: &impl GenericClient,
    from: &Snapshot,
    to: &Snapshot,
    after_seq: i64,
) -> Result<Option<Timestamp>, ParkedError> {
    let parameters: [(&(dyn ToSql + Sync), Type); 4] = [
        (from, Type::PG_SNAPSHOT),
        (to, Type::PG_SNAPSHOT),
        (&after_seq, Type::INT8),
        (&NEXT_SEQS_MAX, Type::INT8),
    ];
    let next = db.query_typed_one(include_str!("left_over.sql"), &parameters).await?;
    match next.try_get("created_at")? {
        None => unseen(db, from, to, after_seq).await,
        found => Ok(found),
    }
}

/// The transactions that `to` sees and `from` does not, from the first to the last of each unbroken stretch, ascending.
fn stretches(from: &Snapshot, to: &Snapshot) -> Vec<(Xid, Xid)> {
    let mut stretches: Vec<_> = from.ended_by(to).into_iter().map(|xid| (xid, xid)).collect();
    let mut first = from.xmax();
    for before in to.in_progress().iter().chain([&to.xmax()]).filter(|xid| **xid >= from.xmax()) {
        if first < *before {
            stretches.push((first, Xid(before.0 - 1)));
        }
        first = Xid(before.0.saturating_add(1));
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::ParseSnapshotError;

    #[test]
    fn the_transactions_between_two_snapshots_are_stretches_without_those_in_progress()
    -> Result<(), ParseSnapshotError> {
        let between = |from: &str, to: &str| -> Result<Vec<(u64, u64)>, ParseSnapshotError> {
            let found = stretches(&from.parse()?, &to.parse()?);
            Ok(found.into_iter().map(|(first, last)| (first.0, last.0)).collect())
        };
        assert_eq!(between("10:10:", "10:10:")?, []);
        assert_eq!(between("10:10:", "14:14:")?, [(10, 13)]);
        assert_eq!(between("10:10:", "10:16:10,12,13,15")?, [(11, 11), (14, 14)]);
        assert_eq!(between("5:10:5,7", "7:12:7")?, [(5, 5), (10, 11)], "what was in progress may have ended");
        assert_eq!(between("20:20:", "10:12:10")?, [], "another server is not as far");
        Ok(())
    }

    #[test]
    fn the_stretches_hold_exactly_what_one_snapshot_sees_and_the_other_does_not()
    -> Result<(), ParseSnapshotError> {
        let (from, to): (Snapshot, Snapshot) = ("5:10:5,7,9".parse()?, "7:20:7,10,13,14,19".parse()?);
        let stretches = stretches(&from, &to);
        for xid in (1..25).map(Xid) {
            let is_within = stretches.iter().any(|(first, last)| (*first..=*last).contains(&xid));
            assert_eq!(is_within, to.sees(xid) && !from.sees(xid), "{xid:?}");
        }
        Ok(())
    }
}
