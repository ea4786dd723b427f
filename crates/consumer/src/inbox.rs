//! The inbox: the event keys whose additive effect a consumer group has had, each with what its event said.

use std::collections::{HashMap, HashSet};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, GenericClient};

use crate::EventKey;

/// An event as the inbox knows it.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) key: EventKey,
    /// The first byte names the way in which the others were made.
    pub(crate) fingerprint: Option<Vec<u8>>,
}

impl Identity {
    /// Whether the event that was recorded under the same key is another one. What was not recorded, or was made in another
    /// way, counts as the same.
    pub(crate) fn collides_with(&self, recorded: &[u8]) -> bool {
        let mine = self.fingerprint.as_deref().and_then(<[u8]>::split_first);
        match (mine, recorded.split_first()) {
            (Some((way, rest)), Some((recorded_way, recorded_rest))) => {
                way == recorded_way && rest != recorded_rest
            }
            _ => false,
        }
    }
}

/// Records identities and gives back the keys that were not there. Of one that occurs twice among them the first counts.
pub(crate) async fn record(
    tx: &impl GenericClient,
    group: &str,
    mut identities: Vec<&Identity>,
) -> Result<HashSet<EventKey>, Error> {
    identities.sort_by(|one, other| one.key.cmp(&other.key));
    let (sources, ids) = columns(&identities);
    let fingerprints: Vec<Option<&[u8]>> =
        identities.iter().map(|identity| identity.fingerprint.as_deref()).collect();
    let rows = tx
        .query_typed(
            include_str!("inbox/record.sql"),
            &[
                (&group, Type::TEXT),
                (&sources, Type::TEXT_ARRAY),
                (&ids, Type::TEXT_ARRAY),
                (&fingerprints, Type::BYTEA_ARRAY),
            ],
        )
        .await?;
    rows.iter().map(|row| Ok(EventKey { source: row.try_get(0)?, id: row.try_get(1)? })).collect()
}

/// The fingerprints that stand beside the keys of these, where there are any. It sees what others committed while
/// [`record`] waited for them.
pub(crate) async fn recorded(
    tx: &impl GenericClient,
    group: &str,
    identities: &[&Identity],
) -> Result<HashMap<EventKey, Vec<u8>>, Error> {
    let (sources, ids) = columns(identities);
    let rows = tx
        .query_typed(
            include_str!("inbox/recorded.sql"),
            &[(&group, Type::TEXT), (&sources, Type::TEXT_ARRAY), (&ids, Type::TEXT_ARRAY)],
        )
        .await?;
    let found = rows.iter().map(|row| {
        let key = EventKey { source: row.try_get("source")?, id: row.try_get("event_id")? };
        Ok((key, row.try_get("fingerprint")?))
    });
    found.collect()
}

fn columns<'a>(identities: &[&'a Identity]) -> (Vec<&'a str>, Vec<&'a str>) {
    let source = |identity: &&'a Identity| identity.key.source.as_str();
    let id = |identity: &&'a Identity| identity.key.id.as_str();
    (identities.iter().map(source).collect(), identities.iter().map(id).collect())
}

#[cfg(test)]
mod tests {
    use super::Identity;
    use crate::EventKey;

    #[test]
    fn only_what_was_made_in_the_same_way_and_differs_is_a_collision() {
        let of = |fingerprint: Option<&[u8]>| Identity {
            key: EventKey { source: "urn:test".to_owned(), id: "1".to_owned() },
            fingerprint: fingerprint.map(<[u8]>::to_vec),
        };
        assert!(of(Some(&[1, 5])).collides_with(&[1, 6]));
        for recorded in [[1, 5].as_slice(), &[2, 6], &[]] {
            assert!(!of(Some(&[1, 5])).collides_with(recorded), "{recorded:?}");
        }
        assert!(!of(None).collides_with(&[1, 5]));
    }
}
