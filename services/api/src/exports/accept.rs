//! The one transaction that makes an export: intent, job, command and `requested` fact stand together or not at all.
//!
//! A COMMIT whose answer is lost is settled by reading back by the intent's key on another connection, never by
//! guessing. Deliberately absent: NOTIFY inside the transaction, and any second place where an export begins.

use tokio_postgres::Transaction;
use uuid::Uuid;
use waybill_contract::CommandReason;
use waybill_domain::export::ExportRequest;
use waybill_domain::ids::{ExportId, TenantId};
use waybill_domain::job::{FactKind, Lifecycle};
use waybill_publication::PublicationError;
use waybill_runtime::chain;
use waybill_store::StoreError;
use waybill_store::dataset;
use waybill_store::intent::{self, Intent, IntentKey};
use waybill_store::job::{self, Job};

use crate::app::App;
use crate::database::{is_conflict, leaves_commit_unknown, postgres};
use crate::problem::{Answer, Kind, Problem};

/// How often the transaction is begun when it loses against others.
const TRANSACTION_TRIES_MAX: u32 = 3;

/// What is to be accepted.
pub(super) struct Acceptance<'a> {
    pub(super) tenant_id: &'a TenantId,
    pub(super) key: IntentKey<'a>,
    pub(super) request: &'a ExportRequest,
    pub(super) request_sha256: &'a [u8; 32],
}

/// What stands now.
pub(super) enum Accepted {
    /// This call made it.
    New(Box<Job>),
    /// Another call with the same key was first.
    Known(Intent),
}

/// Why one try of the transaction did not end in a known state.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("a statement failed")]
    Store(#[from] StoreError),
    #[error("the command or the fact could not be written")]
    Publication(#[from] PublicationError),
    #[error("the transaction failed")]
    Postgres(#[from] tokio_postgres::Error),
    /// The answer to COMMIT was lost.
    #[error("the answer to COMMIT was lost")]
    CommitUnknown(#[source] tokio_postgres::Error),
}

impl Failure {
    /// The transaction lost against another one and was rolled back.
    fn is_conflict(&self) -> bool {
        let postgres = match self {
            Self::Store(error) => postgres(error),
            Self::Publication(error) => error.postgres(),
            Self::Postgres(error) => Some(error),
            Self::CommitUnknown(_) => None,
        };
        postgres.is_some_and(is_conflict)
    }
}

/// Makes the export, unless the intent stands for one already.
pub(super) async fn accept(app: &App, acceptance: &Acceptance<'_>) -> Answer<Accepted> {
    let columns = columns(app, acceptance.request).await?;
    let export_id = ExportId::from_uuid(Uuid::now_v7());
    let mut tries = 1;
    loop {
        let mut db = app.export().await?;
        match transact(app, &mut db, acceptance, &columns, &export_id).await {
            Ok(Some(job)) => {
                // Only a hint: the relay polls as well.
                if let Err(error) = waybill_outbox::wake(&db).await {
                    tracing::debug!(error = %chain(&error), "could not wake the relay");
                }
                return Ok(Accepted::New(Box::new(job)));
            }
            Ok(None) => {
                let known = intent::find(&**db, acceptance.key).await?;
                return known.map(Accepted::Known).ok_or_else(outcome_unknown);
            }
            Err(Failure::CommitUnknown(error)) => {
                tracing::warn!(export_id = %export_id, error = %chain(&error), "reading back after a lost COMMIT");
                drop(db);
                return read_back(app, acceptance, &export_id).await;
            }
            Err(failure) if failure.is_conflict() && tries < TRANSACTION_TRIES_MAX => tries += 1,
            Err(Failure::Store(error)) => return Err(error.into()),
            Err(Failure::Publication(error)) => return Err(error.into()),
            Err(Failure::Postgres(error)) => return Err(error.into()),
        }
    }
}

/// One try. `None`: the intent stands for another export, and nothing was written.
async fn transact(
    app: &App,
    db: &mut deadpool_postgres::Object,
    acceptance: &Acceptance<'_>,
    columns: &[String],
    export_id: &ExportId,
) -> Result<Option<Job>, Failure> {
    let tx = db.transaction().await?;
    let Some(job) = write(app, &tx, acceptance, columns, export_id).await? else {
        return Ok(None);
    };
    match tx.commit().await {
        Ok(()) => Ok(Some(job)),
        Err(error) if leaves_commit_unknown(&error) => Err(Failure::CommitUnknown(error)),
        Err(error) => Err(Failure::Postgres(error)),
    }
}

async fn write(
    app: &App,
    tx: &Transaction<'_>,
    acceptance: &Acceptance<'_>,
    columns: &[String],
    export_id: &ExportId,
) -> Result<Option<Job>, Failure> {
    let key = acceptance.key;
    let Some(now) = intent::insert(tx, key, acceptance.request_sha256, export_id).await? else {
        return Ok(None);
    };
    let owner = (acceptance.tenant_id, key.service_account_id);
    let accepted = Lifecycle::accepted(now);
    let job = job::insert(tx, export_id, owner, acceptance.request, columns, &accepted, now).await?;
    let publisher = app.publisher();
    publisher.command(tx, export_id, acceptance.tenant_id, CommandReason::Accepted, now).await?;
    publisher.fact(tx, &job, None, FactKind::Requested, now).await?;
    Ok(Some(job))
}

/// Looks whether a COMMIT was carried out whose answer was lost.
async fn read_back(app: &App, acceptance: &Acceptance<'_>, export_id: &ExportId) -> Answer<Accepted> {
    let Ok(db) = app.export().await else { return Err(outcome_unknown()) };
    let Ok(found) = intent::find(&**db, acceptance.key).await else { return Err(outcome_unknown()) };
    // Not found is no proof: the server may still be about to carry it out.
    let known = found.ok_or_else(outcome_unknown)?;
    if known.export_id != *export_id {
        return Ok(Accepted::Known(known));
    }
    match job::find(&**db, acceptance.tenant_id, export_id).await {
        Ok(Some(view)) => Ok(Accepted::New(Box::new(view.job))),
        Ok(None) | Err(_) => Err(outcome_unknown()),
    }
}

fn outcome_unknown() -> Problem {
    Problem::new(&Kind::OUTCOME_UNKNOWN, "The database went away while the export was being accepted.")
}

/// The columns of the file: those that were asked for, all of which exist, or all that there are.
async fn columns(app: &App, request: &ExportRequest) -> Answer<Vec<String>> {
    let dataset = dataset::find(&**app.export().await?, &request.dataset).await?;
    let Some(dataset) = dataset else {
        return Err(Problem::field("dataset", "is none that is registered; GET /v1/datasets lists them"));
    };
    let Some(wanted) = &request.columns else { return Ok(dataset.columns) };
    let unknown: Vec<_> = wanted
        .iter()
        .enumerate()
        .filter(|(_, column)| !dataset.columns.contains(column))
        .map(|(index, column)| waybill_domain::export::FieldError {
            field: format!("columns[{index}]"),
            problem: format!(
                "is {column:?}, which the data set does not have; it has {}",
                dataset.columns.join(", ")
            ),
        })
        .collect();
    if unknown.is_empty() { Ok(wanted.clone()) } else { Err(Problem::fields(&unknown)) }
}
