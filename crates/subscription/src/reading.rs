//! What a record says, and what becomes of one that says nothing readable.

use waybill_consumer::{DecodeError, EventKey, Poison, Record};
use waybill_contract::{ContractError, ExportCommand, Fact, Schemas, decode_command, decode_fact};
use waybill_runtime::chain;

/// The fact that a record of the events topic carries.
///
/// # Errors
/// [`DecodeError::Wait`] for a schema that is not known here yet, [`DecodeError::Poison`] for everything else.
pub(crate) fn read_fact(schemas: &Schemas, record: &Record) -> Result<Fact, DecodeError> {
    decode_fact(schemas, record.header_pairs(), record.payload.as_deref()).map_err(|error| refused(&error))
}

/// The command that a record of the commands topic carries.
///
/// # Errors
/// As [`read_fact`].
pub fn read_command(schemas: &Schemas, record: &Record) -> Result<ExportCommand, DecodeError> {
    decode_command(schemas, record.header_pairs(), record.payload.as_deref()).map_err(|error| refused(&error))
}

/// The identity of a fact, whatever envelope carried it.
pub(crate) fn fact_key(fact: &Fact) -> EventKey {
    EventKey { source: fact.source.clone(), id: fact.event_id.clone() }
}

fn refused(error: &ContractError) -> DecodeError {
    let (reason, detail) = (error.reason(), chain(error));
    if error.must_wait() { DecodeError::Wait { reason, detail } } else { Poison { reason, detail }.into() }
}

#[cfg(test)]
mod tests {
    use waybill_consumer::{DecodeError, Record};
    use waybill_contract::{ContractError, Schemas, UnknownSchemaId};

    use super::{read_command, read_fact, refused};

    fn rubbish() -> Record {
        let mut record = Record::new("waybill.export.events", 0, 7);
        record.payload = Some(b"rubbish".to_vec());
        record
    }

    #[test]
    fn a_record_that_breaks_the_contract_is_poison() {
        let schemas = Schemas::embedded().unwrap();
        assert!(matches!(read_fact(&schemas, &rubbish()), Err(DecodeError::Poison(_))));
        assert!(matches!(read_command(&schemas, &rubbish()), Err(DecodeError::Poison(_))));
    }

    #[test]
    fn a_record_of_a_schema_that_is_not_here_yet_waits() {
        let unknown = ContractError::from(UnknownSchemaId { id: 999 });
        assert!(matches!(refused(&unknown), DecodeError::Wait { .. }));
    }
}
