//! Facts: what became true of an export.

use std::collections::BTreeMap;

use jiff::Timestamp;
use waybill_domain::export::NotifyTarget;
use waybill_domain::ids::{CandidateId, ExportId, ServiceAccountId, TenantId};
use waybill_domain::job::{FactKind, JobState};

use crate::cloud_event::Data;
use crate::envelope::{Envelope, EventKey, Message};
use crate::error::{ContractError, EncodeError, InvalidField, Malformed};
use crate::fact_record::{self, FactRecord};
use crate::schemas::Schemas;

/// What became true of one export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The CloudEvents `id`: unique within the source, the same at every delivery.
    pub event_id: String,
    /// The CloudEvents `source`: a URI reference.
    pub source: String,
    /// What became true; the CloudEvents `type`.
    pub kind: FactKind,
    /// When; the CloudEvents `time`.
    pub time: Timestamp,
    /// The whole export since then.
    pub export: ExportSnapshot,
}

/// The whole searchable and countable state of an export. Times are kept to the microsecond, as Postgres keeps them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSnapshot {
    /// The export.
    pub export_id: ExportId,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Who asked for it.
    pub service_account_id: ServiceAccountId,
    /// From 1; orders the facts of one export.
    pub version: i64,
    /// Where it stands.
    pub state: JobState,
    /// What it exports.
    pub dataset: String,
    /// The format of its file.
    pub format: String,
    /// The caller's name for it.
    pub name: Option<String>,
    /// The caller's labels.
    pub labels: BTreeMap<String, String>,
    /// Whom to tell about the outcome.
    pub notify: Vec<NotifyTarget>,
    /// The processing generation; 0 before the first claim.
    pub fence: i64,
    /// Rows of the selected result.
    pub rows: Option<i64>,
    /// Size of the selected result in bytes.
    pub bytes: Option<i64>,
    /// SHA-256 of the selected result: 64 lower-case hexadecimal digits.
    pub sha256: Option<String>,
    /// The selected result.
    pub result_id: Option<CandidateId>,
    /// Why it failed, as a kebab-case code.
    pub failure_code: Option<String>,
    /// Why it failed, for people.
    pub failure_detail: Option<String>,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When it reached its outcome.
    pub finished_at: Option<Timestamp>,
}

impl Fact {
    /// The fact's identity.
    pub fn event_key(&self) -> EventKey {
        EventKey { source: self.source.clone(), id: self.event_id.clone() }
    }

    /// The fact as a Kafka record. Fails where no reader would accept it.
    pub fn encode(&self, schemas: &Schemas) -> Result<Message, ContractError> {
        let record = FactRecord::from(&self.export);
        let readable = record.clone().into_snapshot().and_then(|export| check(self.kind, &export));
        readable.map_err(EncodeError::Field)?;
        let envelope = Envelope {
            key: self.event_key(),
            event_type: self.kind.type_name().to_owned(),
            time: fact_record::to_microsecond(self.time),
            subject: self.export.export_id.to_string(),
        };
        Ok(Message {
            key: self.export.export_id.as_str().as_bytes().to_vec(),
            event_id: self.event_id.clone(),
            headers: envelope.write()?,
            payload: schemas.encode(fact_record::SUBJECT, &record)?,
        })
    }
}

/// The fact in a Kafka record's headers and value.
pub fn decode_fact<'a>(
    schemas: &Schemas,
    headers: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>,
    payload: Option<&[u8]>,
) -> Result<Fact, ContractError> {
    let (Envelope { key, event_type, time, subject }, data) = Envelope::read(headers, payload)?;
    let kind = FactKind::parse(&event_type).ok_or(Malformed::Type { found: event_type })?;
    let record: FactRecord = schemas.decode(fact_record::SUBJECT, data.as_ref().map(Data::as_bytes))?;
    let export = record.into_snapshot().map_err(Malformed::Field)?;
    check(kind, &export).map_err(Malformed::Field)?;
    if export.export_id.as_str() != subject {
        return Err(Malformed::Subject.into());
    }
    Ok(Fact { event_id: key.id, source: key.source, kind, time, export })
}

/// What the type promises about the data: projections count on it.
fn check(kind: FactKind, export: &ExportSnapshot) -> Result<(), InvalidField> {
    let state = match kind {
        FactKind::Requested => JobState::Pending,
        FactKind::Succeeded => JobState::Succeeded,
        FactKind::Failed => JobState::Failed,
        FactKind::Cancelled => JobState::Cancelled,
        FactKind::Expired => JobState::Expired,
        FactKind::Deleted => JobState::Deleted,
    };
    let invalid = |field, detail: String| Err(InvalidField { field, detail });
    if export.state != state {
        return invalid("state", format!("is {} in a {}", export.state.as_str(), kind.type_name()));
    }
    if state.is_terminal() != export.finished_at.is_some() {
        return invalid("finished_at", "must be there exactly when the export has its outcome".to_owned());
    }
    let result = [
        ("result_id", export.result_id.is_some()),
        ("rows", export.rows.is_some()),
        ("bytes", export.bytes.is_some()),
        ("sha256", export.sha256.is_some()),
    ];
    let has_result = export.result_id.is_some();
    if let Some((field, _)) = result.into_iter().find(|(_, present)| *present != has_result) {
        return invalid(field, "a result has an id, rows, bytes and sha256, or none of them".to_owned());
    }
    if state == JobState::Succeeded && !has_result {
        return invalid("result_id", "must be there when the export succeeded".to_owned());
    }
    if state == JobState::Failed && export.failure_code.is_none() {
        return invalid("failure_code", "must be there when the export failed".to_owned());
    }
    Ok(())
}
