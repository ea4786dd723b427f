//! Commands: what asks for work on an export.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use waybill_domain::ids::{ExportId, TenantId};

use crate::cloud_event::Data;
use crate::envelope::{Envelope, EventKey, Message};
use crate::error::{ContractError, InvalidField, Malformed};
use crate::fact_record::{id, to_microsecond};
use crate::schemas::Schemas;

/// The CloudEvents `type` of every command.
pub const COMMAND_TYPE: &str = "waybill.export.process";

const SUBJECT: &str = "waybill.export.v1.ExportCommand";

/// A wake-up for one export. The work is the job's row: a command may be lost, late or doubled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportCommand {
    /// The CloudEvents `id`.
    pub command_id: String,
    /// The CloudEvents `source`: a URI reference.
    pub source: String,
    /// When it was written; the CloudEvents `time`.
    pub time: Timestamp,
    /// The export.
    pub export_id: ExportId,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Why it was written.
    pub reason: CommandReason,
}

/// Why a command was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandReason {
    /// The export was accepted.
    Accepted,
    /// Nothing had moved the export in time.
    Overdue,
    /// A person released it from quarantine.
    Released,
}

impl CommandReason {
    /// Every reason, in the schema's order.
    pub const ALL: [Self; 3] = [Self::Accepted, Self::Overdue, Self::Released];

    /// The reason as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Overdue => "overdue",
            Self::Released => "released",
        }
    }
}

/// `waybill.export.v1.ExportCommand` as serde sees it.
#[derive(Serialize, Deserialize)]
#[serde(rename = "ExportCommand")]
struct CommandRecord {
    export_id: String,
    tenant_id: String,
    reason: CommandReason,
}

impl ExportCommand {
    /// The command's identity.
    pub fn event_key(&self) -> EventKey {
        EventKey { source: self.source.clone(), id: self.command_id.clone() }
    }

    /// The command as a Kafka record. Fails where no reader would accept it.
    pub fn encode(&self, schemas: &Schemas) -> Result<Message, ContractError> {
        let envelope = Envelope {
            key: self.event_key(),
            event_type: COMMAND_TYPE.to_owned(),
            time: to_microsecond(self.time),
            subject: self.export_id.to_string(),
        };
        let record = CommandRecord {
            export_id: self.export_id.to_string(),
            tenant_id: self.tenant_id.to_string(),
            reason: self.reason,
        };
        Ok(Message {
            key: self.export_id.as_str().as_bytes().to_vec(),
            event_id: self.command_id.clone(),
            headers: envelope.write()?,
            payload: schemas.encode(SUBJECT, &record)?,
        })
    }
}

/// The command in a Kafka record's headers and value.
pub fn decode_command<'a>(
    schemas: &Schemas,
    headers: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>,
    payload: Option<&[u8]>,
) -> Result<ExportCommand, ContractError> {
    let (Envelope { key, event_type, time, subject }, data) = Envelope::read(headers, payload)?;
    if event_type != COMMAND_TYPE {
        return Err(Malformed::Type { found: event_type }.into());
    }
    let record: CommandRecord = schemas.decode(SUBJECT, data.as_ref().map(Data::as_bytes))?;
    let (export_id, tenant_id) = identities(&record).map_err(Malformed::Field)?;
    if export_id.as_str() != subject {
        return Err(Malformed::Subject.into());
    }
    Ok(ExportCommand {
        command_id: key.id,
        source: key.source,
        time,
        export_id,
        tenant_id,
        reason: record.reason,
    })
}

fn identities(record: &CommandRecord) -> Result<(ExportId, TenantId), InvalidField> {
    Ok((
        id("export_id", ExportId::parse(&record.export_id))?,
        id("tenant_id", TenantId::parse(&record.tenant_id))?,
    ))
}
