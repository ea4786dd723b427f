//! Writes the facts and commands of an export through the outbox, inside the caller's transaction.
//!
//! Whatever commits with the caller's change is published, and nothing else ever is. Deliberately absent: Kafka, the
//! transaction itself, and waking the relay, which has to wait for the commit (`waybill_outbox::wake`).

pub mod codes;
mod error;

use std::sync::Arc;

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use uuid::Uuid;
use waybill_contract::{CommandReason, ExportCommand, ExportSnapshot, Fact, Message, Schemas, Topics};
use waybill_domain::hex;
use waybill_domain::ids::{ExportId, TenantId};
use waybill_domain::job::FactKind;
use waybill_outbox::{Event, Outbox};
use waybill_store::candidate::Candidate;
use waybill_store::command::{self, NewCommand};
use waybill_store::fact::{self, NewFact};
use waybill_store::job::Job;

pub use error::PublicationError;

/// What every fact's id begins with.
const EVENT_ID_PREFIX: &str = "evt";
/// What every command's id begins with.
const COMMAND_ID_PREFIX: &str = "cmd";

/// Publishes for one deployment: one source, one prefix of topics. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Publisher {
    schemas: Arc<Schemas>,
    topics: Topics,
    outbox: Outbox,
    source: String,
}

impl Publisher {
    /// A publisher whose events have this CloudEvents `source`, on the topics under this prefix.
    ///
    /// # Errors
    /// A source or a prefix that no event could be published with.
    pub fn new(source: &str, topic_prefix: &str) -> Result<Self, PublicationError> {
        waybill_contract::sources::check(source).map_err(PublicationError::Source)?;
        let schemas = Arc::new(Schemas::embedded()?);
        let topics = Topics::with_prefix(topic_prefix);
        waybill_contract::topics::check_name(&topics.commands)?;
        waybill_contract::topics::check_name(&topics.events)?;
        Ok(Self { schemas, topics, outbox: Outbox::default(), source: source.to_owned() })
    }

    /// Writes a fact about `job` and answers its event id.
    ///
    /// `job` is the row as this transaction leaves it, with the version that the fact brought, and its row lock is held:
    /// that lock is what makes the order of facts in the outbox the order of their commits. `result` is the selected
    /// candidate, exactly where the job has one. `now` is the database's time.
    ///
    /// # Errors
    /// The transaction must be rolled back after any.
    pub async fn fact(
        &self,
        tx: &impl GenericClient,
        job: &Job,
        result: Option<&Candidate>,
        kind: FactKind,
        now: Timestamp,
    ) -> Result<String, PublicationError> {
        let event_id = new_id(EVENT_ID_PREFIX);
        let export = snapshot(job, result)?;
        let fact = Fact { event_id, source: self.source.clone(), kind, time: now, export };
        let outbox_seq = self.append(tx, &self.topics.events, &fact.encode(&self.schemas)?).await?;
        let row = NewFact {
            export_id: &job.export_id,
            version: job.lifecycle.version,
            event_id: &fact.event_id,
            kind,
            outbox_seq,
        };
        fact::insert(tx, row).await?;
        Ok(fact.event_id)
    }

    /// Writes a command for an export and answers its id. `now` is the database's time.
    ///
    /// # Errors
    /// The transaction must be rolled back after any.
    pub async fn command(
        &self,
        tx: &impl GenericClient,
        export_id: &ExportId,
        tenant_id: &TenantId,
        reason: CommandReason,
        now: Timestamp,
    ) -> Result<String, PublicationError> {
        let command = ExportCommand {
            command_id: new_id(COMMAND_ID_PREFIX),
            source: self.source.clone(),
            time: now,
            export_id: export_id.clone(),
            tenant_id: tenant_id.clone(),
            reason,
        };
        let outbox_seq = self.append(tx, &self.topics.commands, &command.encode(&self.schemas)?).await?;
        let command_id = command.command_id.as_str();
        command::insert(tx, NewCommand { export_id, command_id, reason: reason.as_str(), outbox_seq })
            .await?;
        Ok(command.command_id)
    }

    async fn append(
        &self,
        tx: &impl GenericClient,
        topic: &str,
        message: &Message,
    ) -> Result<i64, PublicationError> {
        let event = Event {
            topic,
            key: Some(&message.key),
            event_id: &message.event_id,
            headers: &message.headers,
            payload: Some(&message.payload),
        };
        Ok(self.outbox.append(tx, &event).await?)
    }
}

fn new_id(prefix: &str) -> String {
    format!("{prefix}_{}", Uuid::now_v7().simple())
}

/// The whole export. A candidate that the job's row does not select would publish a result that does not count.
fn snapshot(job: &Job, result: Option<&Candidate>) -> Result<ExportSnapshot, PublicationError> {
    let result_id = result.map(|candidate| candidate.candidate_id.clone());
    if result_id != job.result_candidate_id {
        let export_id = job.export_id.clone();
        return Err(PublicationError::NotTheResult { export_id });
    }
    let sha256 = result.and_then(|candidate| candidate.sha256.as_deref());
    Ok(ExportSnapshot {
        export_id: job.export_id.clone(),
        tenant_id: job.tenant_id.clone(),
        service_account_id: job.service_account_id.clone(),
        version: job.lifecycle.version,
        state: job.lifecycle.state,
        dataset: job.dataset.clone(),
        format: job.spec.format.as_str().to_owned(),
        name: job.name.clone(),
        labels: job.labels.clone(),
        notify: job.notify.clone(),
        fence: job.lifecycle.fence,
        rows: result.and_then(|candidate| candidate.rows),
        bytes: result.and_then(|candidate| candidate.bytes),
        sha256: sha256.map(hex),
        result_id,
        failure_code: job.failure_code.clone(),
        failure_detail: job.failure_detail.clone(),
        accepted_at: job.accepted_at,
        finished_at: job.finished_at,
    })
}
