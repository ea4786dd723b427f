//! Confluent's wire format: a magic byte 0, the schema's id as four big-endian bytes, then the Avro data.
//!
//! "Wire format" in Confluent's "Schema Registry: Formats, Serializers, and Deserializers". Deliberately absent: the
//! newer format with the id in a header, which no reader of these topics would find.

use crate::error::Malformed;

/// The largest value of a record, in bytes. Below Kafka's default of what a batch may hold.
pub const PAYLOAD_BYTES_MAX: usize = 1_000_000;

const MAGIC_BYTE: u8 = 0;
const PREFIX_BYTES: usize = 5;

/// The magic byte and the id, for the data to be appended to.
pub(crate) fn begin(schema_id: u32) -> Vec<u8> {
    let mut payload = vec![MAGIC_BYTE];
    payload.extend_from_slice(&schema_id.to_be_bytes());
    payload
}

/// Takes a record's value apart into schema id and data.
pub(crate) fn split(payload: Option<&[u8]>) -> Result<(u32, &[u8]), Malformed> {
    let payload = payload.ok_or(Malformed::PayloadNull)?;
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(Malformed::PayloadTooLarge { bytes: payload.len() });
    }
    if let Some(&found) = payload.first().filter(|&&byte| byte != MAGIC_BYTE) {
        return Err(Malformed::MagicByte { found });
    }
    let Some(([_, id @ ..], data)) = payload.split_first_chunk::<PREFIX_BYTES>() else {
        return Err(Malformed::PayloadTooShort { bytes: payload.len() });
    };
    Ok((u32::from_be_bytes(*id), data))
}
