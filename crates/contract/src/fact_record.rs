//! `waybill.export.v1.ExportFact` as serde sees it, and its way to a snapshot and back.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use waybill_domain::export::NotifyTarget;
use waybill_domain::ids::{CandidateId, ExportId, InvalidId, ServiceAccountId, TenantId};
use waybill_domain::job::JobState;

use crate::error::InvalidField;
use crate::fact::ExportSnapshot;

/// The subject of the facts' schema: its full name.
pub(crate) const SUBJECT: &str = "waybill.export.v1.ExportFact";

/// The schema's fields, by name and in order. `NotifyTarget` and its channel already are what the schema says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename = "ExportFact")]
pub(crate) struct FactRecord {
    export_id: String,
    tenant_id: String,
    service_account_id: String,
    version: i64,
    #[serde(with = "ExportState")]
    state: JobState,
    dataset: String,
    format: String,
    name: Option<String>,
    labels: BTreeMap<String, String>,
    notify: Vec<NotifyTarget>,
    fence: i64,
    rows: Option<i64>,
    bytes: Option<i64>,
    sha256: Option<String>,
    result_id: Option<String>,
    failure_code: Option<String>,
    failure_detail: Option<String>,
    accepted_at: i64,
    finished_at: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "JobState", rename_all = "lowercase")]
enum ExportState {
    Pending,
    Running,
    Quarantined,
    Succeeded,
    Failed,
    Cancelled,
    Expired,
    Deleted,
}

impl From<&ExportSnapshot> for FactRecord {
    fn from(export: &ExportSnapshot) -> Self {
        let export = export.clone();
        Self {
            export_id: export.export_id.to_string(),
            tenant_id: export.tenant_id.to_string(),
            service_account_id: export.service_account_id.to_string(),
            version: export.version,
            state: export.state,
            dataset: export.dataset,
            format: export.format,
            name: export.name,
            labels: export.labels,
            notify: export.notify,
            fence: export.fence,
            rows: export.rows,
            bytes: export.bytes,
            sha256: export.sha256,
            result_id: export.result_id.map(|id| id.to_string()),
            failure_code: export.failure_code,
            failure_detail: export.failure_detail,
            accepted_at: export.accepted_at.as_microsecond(),
            finished_at: export.finished_at.map(Timestamp::as_microsecond),
        }
    }
}

impl FactRecord {
    /// The snapshot, with every field checked by itself.
    pub(crate) fn into_snapshot(self) -> Result<ExportSnapshot, InvalidField> {
        self.check_texts()?;
        Ok(ExportSnapshot {
            export_id: id("export_id", ExportId::parse(&self.export_id))?,
            tenant_id: id("tenant_id", TenantId::parse(&self.tenant_id))?,
            service_account_id: id("service_account_id", ServiceAccountId::parse(&self.service_account_id))?,
            version: at_least(1, "version", self.version)?,
            state: self.state,
            dataset: not_empty("dataset", self.dataset)?,
            format: not_empty("format", self.format)?,
            name: self.name,
            labels: self.labels,
            notify: self.notify,
            fence: at_least(0, "fence", self.fence)?,
            rows: self.rows.map(|rows| at_least(0, "rows", rows)).transpose()?,
            bytes: self.bytes.map(|bytes| at_least(0, "bytes", bytes)).transpose()?,
            sha256: self.sha256.map(sha256).transpose()?,
            result_id: self
                .result_id
                .map(|result| id("result_id", CandidateId::parse(&result)))
                .transpose()?,
            failure_code: self.failure_code,
            failure_detail: self.failure_detail,
            accepted_at: time("accepted_at", self.accepted_at)?,
            finished_at: self.finished_at.map(|at| time("finished_at", at)).transpose()?,
        })
    }

    /// A NUL is sound UTF-8 and sound Avro, but no Postgres text takes it: the consumer would stand still on it.
    fn check_texts(&self) -> Result<(), InvalidField> {
        let optional = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains('\0'));
        let texts = [
            ("dataset", self.dataset.contains('\0')),
            ("format", self.format.contains('\0')),
            ("name", optional(&self.name)),
            ("labels", self.labels.iter().any(|(key, value)| key.contains('\0') || value.contains('\0'))),
            ("notify", self.notify.iter().any(|notify| notify.target.contains('\0'))),
            ("failure_code", optional(&self.failure_code)),
            ("failure_detail", optional(&self.failure_detail)),
        ];
        match texts.into_iter().find(|(_, has_nul)| *has_nul) {
            Some((field, _)) => Err(InvalidField { field, detail: "holds U+0000".to_owned() }),
            None => Ok(()),
        }
    }
}

/// The same instant without what Postgres and the schema do not keep.
pub(crate) fn to_microsecond(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

pub(crate) fn id<T>(field: &'static str, parsed: Result<T, InvalidId>) -> Result<T, InvalidField> {
    parsed.map_err(|error| InvalidField { field, detail: error.to_string() })
}

fn at_least(least: i64, field: &'static str, value: i64) -> Result<i64, InvalidField> {
    if value >= least {
        Ok(value)
    } else {
        Err(InvalidField { field, detail: format!("is {value}, the least is {least}") })
    }
}

fn not_empty(field: &'static str, text: String) -> Result<String, InvalidField> {
    if text.is_empty() { Err(InvalidField { field, detail: "is empty".to_owned() }) } else { Ok(text) }
}

fn sha256(hex: String) -> Result<String, InvalidField> {
    if hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        Ok(hex)
    } else {
        Err(InvalidField { field: "sha256", detail: "is not 64 lower-case hexadecimal digits".to_owned() })
    }
}

fn time(field: &'static str, microseconds: i64) -> Result<Timestamp, InvalidField> {
    Timestamp::from_microsecond(microseconds)
        .map_err(|error| InvalidField { field, detail: error.to_string() })
}
