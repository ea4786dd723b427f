//! Parking: a record that cannot be applied is kept whole until a person decides.

use tokio_postgres::types::Type;
use tokio_postgres::{Error, GenericClient};

use crate::effect::Poison;
use crate::record::Record;

/// The most of a reason's detail that is kept, in bytes.
const DETAIL_BYTES_MAX: usize = 4096;

/// Parks `record` inside the transaction that moves the position past it.
pub(crate) async fn park(
    tx: &impl GenericClient,
    group: &str,
    topic_id: &str,
    record: &Record,
    poison: &Poison,
) -> Result<(), Error> {
    let names: Vec<&str> = record.headers.iter().map(|(name, _)| name.as_str()).collect();
    let values: Vec<Option<&[u8]>> = record.headers.iter().map(|(_, value)| value.as_deref()).collect();
    let detail = storable(&poison.detail);
    tx.execute_typed(
        include_str!("parked/park.sql"),
        &[
            (&group, Type::TEXT),
            (&record.topic, Type::TEXT),
            (&record.partition, Type::INT4),
            (&record.offset, Type::INT8),
            (&topic_id, Type::TEXT),
            (&record.key, Type::BYTEA),
            (&names, Type::TEXT_ARRAY),
            (&values, Type::BYTEA_ARRAY),
            (&record.payload, Type::BYTEA),
            (&poison.reason, Type::TEXT),
            (&detail, Type::TEXT),
        ],
    )
    .await
    .map(drop)
}

/// Text that Postgres takes: no NUL, and bounded.
fn storable(detail: &str) -> String {
    let mut text = detail.replace('\0', "\u{fffd}");
    text.truncate(text.floor_char_boundary(DETAIL_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::{DETAIL_BYTES_MAX, storable};

    #[test]
    fn a_detail_is_cut_between_characters_and_holds_no_nul() {
        let text = storable(&format!("\0{}", "字".repeat(DETAIL_BYTES_MAX)));
        assert!(text.len() <= DETAIL_BYTES_MAX && text.starts_with("\u{fffd}字") && text.ends_with('字'));
    }
}
