//! `pg_snapshot` and `xid8`, as Postgres sends them.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use bytes::{Buf as _, BufMut as _, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// A transaction's 64-bit id (`xid8`), which is never reused in the life of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid(pub u64);

/// Which transactions had ended when Postgres took it: all below `xmin`, none from `xmax` on, and between the two
/// those that were not in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    xmin: Xid,
    xmax: Xid,
    in_progress: Vec<Xid>,
}

impl Snapshot {
    /// The snapshot that sees no transaction.
    pub const fn of_nothing() -> Self {
        Self::before(Xid(1))
    }

    /// The snapshot that sees every transaction, given out or not. Only a window of rows of before a restore has it.
    pub const fn of_everything() -> Self {
        Self::before(Xid(i64::MAX as u64))
    }

    const fn before(xid: Xid) -> Self {
        Self { xmin: xid, xmax: xid, in_progress: Vec::new() }
    }

    /// The lowest transaction that was still in progress.
    pub fn xmin(&self) -> Xid {
        self.xmin
    }

    /// The first transaction that had not begun.
    pub fn xmax(&self) -> Xid {
        self.xmax
    }

    /// The transactions in progress, ascending, each of them at least `xmin` and below `xmax`.
    pub fn in_progress(&self) -> &[Xid] {
        &self.in_progress
    }

    /// Whether that transaction had ended, as `pg_visible_in_snapshot` has it. An aborted one counts as ended: its rows
    /// are no rows.
    pub fn sees(&self, xid: Xid) -> bool {
        xid < self.xmin || (xid < self.xmax && self.in_progress.binary_search(&xid).is_err())
    }

    /// The transactions that were in progress here and had ended by `later`: all that a window between the two holds from
    /// below this snapshot's `xmax`.
    pub fn ended_by(&self, later: &Self) -> Vec<Xid> {
        self.in_progress.iter().copied().filter(|xid| later.sees(*xid)).collect()
    }
}

/// The text was no `xmin:xmax:xip,…`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no snapshot: expected xmin:xmax:xip,…")]
pub struct ParseSnapshotError {
    text: String,
}

impl FromStr for Snapshot {
    type Err = ParseSnapshotError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || ParseSnapshotError { text: text.to_owned() };
        let number = |part: &str| part.parse().map(Xid).ok();
        let mut parts = text.split(':');
        let (Some(xmin), Some(xmax), Some(list), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(refused());
        };
        let in_progress: Option<Vec<Xid>> = match list {
            "" => Some(Vec::new()),
            list => list.split(',').map(number).collect(),
        };
        match (number(xmin), number(xmax), in_progress) {
            (Some(xmin), Some(xmax), Some(in_progress)) => Ok(Self { xmin, xmax, in_progress }),
            (_, _, _) => Err(refused()),
        }
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.xmin.0, self.xmax.0)?;
        for (index, xid) in self.in_progress.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { "," }, xid.0)?;
        }
        Ok(())
    }
}

impl<'a> FromSql<'a> for Snapshot {
    fn from_sql(_: &Type, mut raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let count = usize::try_from(raw.try_get_i32()?)?;
        let xmin = Xid(raw.try_get_u64()?);
        let xmax = Xid(raw.try_get_u64()?);
        let in_progress = (0..count).map(|_| raw.try_get_u64().map(Xid)).collect::<Result<_, _>>()?;
        Ok(Self { xmin, xmax, in_progress })
    }

    accepts!(PG_SNAPSHOT);
}

impl ToSql for Snapshot {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_i32(i32::try_from(self.in_progress.len())?);
        out.put_u64(self.xmin.0);
        out.put_u64(self.xmax.0);
        self.in_progress.iter().for_each(|xid| out.put_u64(xid.0));
        Ok(IsNull::No)
    }

    accepts!(PG_SNAPSHOT);
    to_sql_checked!();
}

impl ToSql for Xid {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_u64(self.0);
        Ok(IsNull::No)
    }

    accepts!(XID8);
    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_reads_and_writes_as_postgres_does() {
        for text in ["1:1:", "10:20:10,14,15"] {
            assert_eq!(text.parse::<Snapshot>().map(|snapshot| snapshot.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "1:2", "1:2:x", "1:2:3:4", "a:2:"] {
            assert!(text.parse::<Snapshot>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_wire_format_comes_back_as_it_went() -> Result<(), Box<dyn Error + Sync + Send>> {
        let snapshot: Snapshot = "10:20:10,14,15".parse()?;
        let mut wire = BytesMut::new();
        snapshot.to_sql(&Type::PG_SNAPSHOT, &mut wire)?;
        assert_eq!(Snapshot::from_sql(&Type::PG_SNAPSHOT, &wire)?, snapshot);
        assert!(Snapshot::from_sql(&Type::PG_SNAPSHOT, &wire[..wire.len() - 1]).is_err());
        Ok(())
    }

    #[test]
    fn a_snapshot_sees_what_had_ended() -> Result<(), ParseSnapshotError> {
        let snapshot: Snapshot = "10:20:10,14".parse()?;
        let seen: Vec<u64> = (8..22).filter(|xid| snapshot.sees(Xid(*xid))).collect();
        assert_eq!(seen, [8, 9, 11, 12, 13, 15, 16, 17, 18, 19]);
        Ok(())
    }

    #[test]
    fn only_transactions_that_ended_in_between_are_looked_for() -> Result<(), ParseSnapshotError> {
        let from: Snapshot = "10:20:10,14,15".parse()?;
        let to: Snapshot = "14:40:14,33".parse()?;
        assert_eq!(from.ended_by(&to), [Xid(10), Xid(15)]);
        assert_eq!(from.ended_by(&from), []);
        Ok(())
    }
}
