//! Whoever keeps Postgres from cleaning: the relay is not slowed by it, and every table of the database grows.

use std::time::Duration;

use jiff::Timestamp;
use tokio_postgres::GenericClient;

/// Who has the oldest snapshot or transaction of this database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Horizon {
    /// `session`, `prepared transaction` or `replication slot`.
    pub kind: String,
    /// Process id, user and application; or the name.
    pub name: String,
    /// The transaction id below which nothing is cleaned.
    pub xid: String,
    /// How many transactions have begun since.
    pub age: i64,
    /// Since when, where that may be seen.
    pub since: Option<Timestamp>,
}

/// Who holds back cleaning most, this moment. Needs no privilege.
///
/// # Errors
/// The database failed.
pub async fn horizon(db: &impl GenericClient) -> Result<Option<Horizon>, tokio_postgres::Error> {
    let found = db.query_typed_opt(include_str!("horizon.sql"), &[]).await?;
    found
        .map(|row| {
            Ok(Horizon {
                kind: row.try_get("kind")?,
                name: row.try_get("name")?,
                xid: row.try_get("xid")?,
                age: row.try_get("age")?,
                since: row.try_get("since")?,
            })
        })
        .transpose()
}

/// Measures how long the horizon stands still, without being allowed to see when a transaction began.
#[derive(Debug, Clone, Default)]
pub struct HorizonWatch {
    stands: Option<(String, Duration)>,
}

impl HorizonWatch {
    /// Notes where it is at `now`, a time that only grows, and answers since how long it has been there. Whoever holds
    /// it: what one transaction keeps, a snapshot that was taken beside it goes on keeping after its end.
    pub fn note(&mut self, horizon: Option<&Horizon>, now: Duration) -> Duration {
        match (horizon, &self.stands) {
            (Some(Horizon { xid, .. }), Some((same, since))) if xid == same => now.saturating_sub(*since),
            (horizon, _) => {
                self.stands = horizon.map(|found| (found.xid.clone(), now));
                Duration::ZERO
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(name: &str, xid: &str) -> Horizon {
        let (kind, name, xid) = ("session".to_owned(), name.to_owned(), xid.to_owned());
        Horizon { kind, name, xid, age: 1, since: None }
    }

    #[test]
    fn only_the_same_transaction_stands_still_whoever_holds_it() {
        let seconds = Duration::from_secs;
        let mut watch = HorizonWatch::default();
        assert_eq!(watch.note(Some(&held("17", "100")), seconds(10)), seconds(0));
        assert_eq!(watch.note(Some(&held("17", "100")), seconds(40)), seconds(30));
        assert_eq!(watch.note(Some(&held("17", "200")), seconds(50)), seconds(0), "its next transaction");
        assert_eq!(watch.note(Some(&held("18", "200")), seconds(60)), seconds(10), "a snapshot beside it");
        assert_eq!(watch.note(None, seconds(70)), seconds(0));
        assert_eq!(watch.note(Some(&held("18", "200")), seconds(80)), seconds(0));
    }
}
