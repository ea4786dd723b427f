//! Avro data by the writer's schema, through `apache-avro`'s serde path.
//!
//! The library's other path, through `Value`, is not used: it takes the end of the input for a null, so a truncated
//! record would be read as one whose last fields are absent.

use std::io::{self, Read};

use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::writer::datum::GenericDatumWriter;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Malformed;
use crate::wire_format::PAYLOAD_BYTES_MAX;

/// Bounds what the library allocates for a length that the data only claims. One value a process, set once.
pub(crate) fn bound_allocations() {
    apache_avro::util::max_allocation_bytes(PAYLOAD_BYTES_MAX);
}

pub(crate) fn append<T: Serialize>(
    payload: &mut Vec<u8>,
    schema: &Schema,
    record: &T,
) -> Result<(), apache_avro::Error> {
    GenericDatumWriter::builder(schema).build()?.write_ser(payload, record)?;
    Ok(())
}

pub(crate) fn read<T: DeserializeOwned>(data: &[u8], schema: &Schema) -> Result<T, Malformed> {
    let mut input = Input { rest: data, ran_out: false };
    let result = GenericDatumReader::builder(schema).build().and_then(|reader| reader.read_deser(&mut input));
    match result {
        Ok(_) if !input.rest.is_empty() => Err(Malformed::TrailingBytes { bytes: input.rest.len() }),
        Ok(record) => Ok(record),
        Err(_) if input.ran_out => Err(Malformed::DataTruncated),
        Err(source) => Err(Malformed::Data(Box::new(source))),
    }
}

/// The data, and whether more of it was asked for than there is.
struct Input<'a> {
    rest: &'a [u8],
    ran_out: bool,
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.ran_out |= buffer.len() > self.rest.len();
        self.rest.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Noted {
        note: Option<String>,
        amount: i64,
    }

    fn schema(fields: &str) -> Schema {
        Schema::parse_str(&format!(r#"{{"type": "record", "name": "Noted", "fields": [{fields}]}}"#)).unwrap()
    }

    #[test]
    fn a_field_that_a_later_writer_added_is_skipped() {
        let later = schema(
            r#"{"name": "amount", "type": "long"},
            {"name": "extra", "type": ["null", {"type": "map", "values": "string"}]},
            {"name": "note", "type": ["null", "string"]}"#,
        );
        let data = [4, 2, 2, 2, b'k', 2, b'v', 0, 2, 2, b'n'];
        assert_eq!(read::<Noted>(&data, &later).unwrap(), Noted { note: Some("n".to_owned()), amount: 2 });
    }

    #[test]
    fn an_optional_field_that_an_earlier_writer_did_not_have_is_absent() {
        let earlier = schema(r#"{"name": "amount", "type": "long"}"#);
        assert_eq!(read::<Noted>(&[4], &earlier).unwrap(), Noted { note: None, amount: 2 });
    }

    #[test]
    fn the_end_of_the_input_is_not_taken_for_a_null() {
        let both =
            schema(r#"{"name": "amount", "type": "long"}, {"name": "note", "type": ["null", "string"]}"#);
        assert!(matches!(read::<Noted>(&[4], &both), Err(Malformed::DataTruncated)));
    }
}
