//! The one transaction that makes an export: intent, job, command and `requested` fact stand together or not at all.
//!
//! A COMMIT whose answer is lost is settled by reading back by the intent's key on another connection, never by
//! guessing. The quotas are judged once the intent is known to be new, and a refusal leaves nothing of it. Deliberately absent:
//! NOTIFY inside the transaction, and any second place where an export begins.

use jiff::Timestamp;
use serde_json::Value;
use tokio_postgres::Transaction;
use uuid::Uuid;
use waybill_contract::CommandReason;
use waybill_datasets::{Refusal, resolve};
use waybill_domain::export::{Expiry, ExportRequest, Spec};
use waybill_domain::ids::{ExportId, TenantId};
use waybill_domain::job::{FactKind, Lifecycle, retry};
use waybill_fault_points::{Point, reach};
use waybill_runtime::chain;
use waybill_store::dataset;
use waybill_store::intent::{self, Intent, IntentKey};
use waybill_store::job::{self, Job};

use super::failure::{Failure, TRANSACTION_TRIES_MAX, committed};
use super::not_found;
use super::quota::admit;
use super::transition::refused;
use crate::app::App;
use crate::catalog::revision;
use crate::lent::Lent;
use crate::problem::{Answer, Kind, Problem};

/// What is to be accepted.
pub(super) struct Acceptance<'a> {
    pub(super) tenant_id: &'a TenantId,
    pub(super) key: IntentKey<'a>,
    pub(super) wish: Wish<'a>,
    /// What was asked for, as it is kept beside the intent.
    pub(super) request: Option<&'a Value>,
    pub(super) request_sha256: &'a [u8; 32],
}

/// What is wished for.
pub(super) enum Wish<'a> {
    /// An export, as it was asked for.
    Export(&'a ExportRequest),
    /// The same as this failed export of the tenant asked for.
    RetryOf(&'a ExportId),
}

/// A wish that was held against its data set.
enum Wanted<'a> {
    Export(&'a ExportRequest, Spec),
    RetryOf(&'a ExportId),
}

/// What stands now.
pub(super) enum Accepted {
    /// This call made it.
    New(Box<Job>),
    /// Another call with the same key was first.
    Known(Intent),
}

/// Makes the export, unless the intent stands for one already.
pub(super) async fn accept(app: &App, acceptance: &Acceptance<'_>) -> Answer<Accepted> {
    let wanted = match acceptance.wish {
        Wish::Export(request) => Wanted::Export(request, specified(app, request).await?),
        Wish::RetryOf(failed) => Wanted::RetryOf(failed),
    };
    let export_id = ExportId::from_uuid(Uuid::now_v7());
    let mut tries = 1;
    loop {
        let mut db = app.export().await?;
        match transact(app, &mut db, acceptance, &wanted, &export_id).await {
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
            Err(failure) => return Err(failure.into()),
        }
    }
}

/// One try. `None`: the intent stands for another export, and nothing was written.
async fn transact(
    app: &App,
    db: &mut Lent,
    acceptance: &Acceptance<'_>,
    wanted: &Wanted<'_>,
    export_id: &ExportId,
) -> Result<Option<Job>, Failure> {
    let tx = db.transaction().await?;
    let Some(job) = write(app, &tx, acceptance, wanted, export_id).await? else {
        return Ok(None);
    };
    reach(Point::ApiCommitting);
    committed(tx.commit().await)?;
    Ok(Some(job))
}

async fn write(
    app: &App,
    tx: &Transaction<'_>,
    acceptance: &Acceptance<'_>,
    wanted: &Wanted<'_>,
    export_id: &ExportId,
) -> Result<Option<Job>, Failure> {
    let key = acceptance.key;
    let said = (acceptance.request_sha256.as_slice(), acceptance.request);
    let Some(now) = intent::insert(tx, key, said, export_id).await? else {
        return Ok(None);
    };
    admit(tx, acceptance.tenant_id).await?;
    let job = match wanted {
        Wanted::Export(request, spec) => {
            let owner = (acceptance.tenant_id, key.service_account_id);
            let kept = request.expiry.map_or_else(|| Ok(app.kept()), |expiry| expiry.kept(now));
            let kept = kept.map_err(|error| Problem::listing(&Kind::REQUEST_UNFIT, &[error]))?;
            let accepted = Lifecycle::accepted(now, kept);
            job::insert(tx, export_id, owner, (request, spec), &accepted, now).await?
        }
        Wanted::RetryOf(failed) => insert_retry(tx, acceptance, failed, export_id, now).await?,
    };
    let publisher = app.publisher();
    publisher.command(tx, export_id, acceptance.tenant_id, CommandReason::Accepted, now).await?;
    publisher.fact(tx, &job, None, FactKind::Requested, now).await?;
    Ok(Some(job))
}

/// Another try of a failed export, which is still failed: its row is locked until the new one is committed.
async fn insert_retry(
    tx: &Transaction<'_>,
    acceptance: &Acceptance<'_>,
    failed: &ExportId,
    export_id: &ExportId,
    now: Timestamp,
) -> Result<Job, Failure> {
    let of = job::lock(tx, failed).await?.filter(|job| job.tenant_id == *acceptance.tenant_id);
    let of = of.ok_or_else(|| not_found(failed.as_str()))?;
    let accepted = retry(&of.lifecycle, now).map_err(|rejection| refused(&rejection, &of))?;
    // A time that was asked for may be over by now, or be before anybody could fetch the result.
    if let Some(until) = accepted.next.expires_at {
        let still = Expiry::At(until).kept(now);
        still.map_err(|error| Problem::listing(&Kind::REQUEST_UNFIT, &[error]))?;
    }
    let account = acceptance.key.service_account_id;
    Ok(job::insert_retry(tx, export_id, account, failed, &accepted, now).await?)
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

/// What the request comes to by the last revision of its data set.
async fn specified(app: &App, request: &ExportRequest) -> Answer<Spec> {
    let stored = dataset::latest(&**app.export().await?, &request.dataset).await?;
    let Some(stored) = stored else {
        let detail = format!("There is no data set {:?}.", request.dataset);
        return Err(Problem::new(&Kind::DATASET_NOT_FOUND, detail));
    };
    let revision = revision(stored)?;
    let mut unfit = request.unfit();
    match resolve(request, &revision) {
        Ok(spec) if unfit.is_empty() => return Ok(spec),
        Err(Refusal::Format(errors)) if unfit.is_empty() => {
            return Err(Problem::listing(&Kind::COLUMN_NOT_EXPORTABLE, &errors));
        }
        Ok(_) => {}
        Err(refusal) => unfit.extend_from_slice(refusal.errors()),
    }
    Err(Problem::listing(&Kind::REQUEST_UNFIT, &unfit))
}
