//! `waybill outbox rebase`: goes on after a restore or a failover.
//!
//! It connects by itself: it is needed when nothing is relayed and the api may be down, and it locks tables of the owner's.
//! For the product's own outbox it connects as the admin, and reads in Kafka which facts the database has lost. What the
//! events of another outbox mean, only its owner knows.

mod log;
mod report;
mod unknown;

use tokio_postgres::Client;
use waybill_outbox::decisions;
use waybill_outbox::parked::look_into;
use waybill_outbox::rebase::{self, RebaseError, Rebased, Refusal, Wanted};
use waybill_outbox::window::announce_release;
use waybill_runtime::{Config, Schema, connect_as_admin};
use waybill_store::StoreError;
use waybill_store::decision::{self, NewDecision};
use waybill_store::job;
use waybill_store::migrations::OWNER;

use super::direct::{self, Direct};
use super::reach::Place;
use crate::codes;
use crate::commands::decision::Decision;
use crate::commands::{CommandError, database_refused};
use crate::exit::Exit;
use crate::output::Output;
use report::Report;
use unknown::Unknown;

/// The product's own outbox.
const OUTBOX: &str = "outbox";
/// Who is recorded as having decided about it: nobody whom the api knows.
const PRINCIPAL: &str = "postgres-admin";
/// What is decided.
const ACTION: &str = "outbox.rebase";

/// How.
#[derive(Debug, clap::Args)]
pub(crate) struct Rebase {
    /// Files of this very server were put back, so that nothing shows it
    #[arg(long)]
    same_server: bool,
    /// Send everything again that the outbox still holds
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    decision: Decision,
    #[command(flatten)]
    place: Place,
}

/// What is kept beside the cursor's move; without it a rebase only looks.
enum Kept<'a> {
    /// Of the product's own outbox: the decision, and the versions of exports about which the log knows more.
    Product(&'a Unknown),
    /// Of another one: the decision.
    Other,
}

/// Looks first, at the outbox and, for the product's own, at the log; then, unless only that was asked for, does it.
pub(super) async fn run(
    rebase: &Rebase,
    config: impl FnOnce() -> Result<Config, CommandError>,
    output: &Output,
) -> Result<(), CommandError> {
    rebase.decision.reason()?;
    match rebase.place.direct().await? {
        Some(other) => run_on(other, rebase, output).await,
        None => run_on_the_products(rebase, &config()?, output).await,
    }
}

async fn run_on_the_products(rebase: &Rebase, config: &Config, output: &Output) -> Result<(), CommandError> {
    let mut admin = connect_as_admin(config, Schema::Outbox).await.map_err(database_refused)?;
    let db = &mut admin.client;
    db.batch_execute(&format!("SET ROLE {OWNER}")).await.map_err(|error| failed(error.into()))?;
    let looked = turn(db, OUTBOX, rebase, None).await?;
    output.note("reading the facts that Kafka holds …");
    let unknown = unknown::find(db, config).await?;
    let would = Report::new(&looked, Some(&unknown), true);
    if rebase.decision.is_dry_run() {
        return output.answer(&would, Report::text);
    }
    rebase.decision.ask(output, || would.text())?;
    let rebased = turn(db, OUTBOX, rebase, Some(Kept::Product(&unknown))).await?;
    wake(db).await;
    output.answer(&Report::new(&rebased, Some(&unknown), false), Report::text)
}

async fn run_on(mut other: Direct, rebase: &Rebase, output: &Output) -> Result<(), CommandError> {
    let schema = other.schema().clone();
    if other.is_own().await? {
        let message = format!("{schema} is the outbox of Waybill's own exports");
        return Err(CommandError::new(Exit::Usage, codes::USAGE, message).with_hint(
            "leave out --schema and --database-url: its rebase also raises what exports have lost",
        ));
    }
    let db = other.client();
    let looked = turn(db, schema.as_str(), rebase, None).await?;
    let would = Report::new(&looked, None, true);
    if rebase.decision.is_dry_run() {
        return output.answer(&would, Report::text);
    }
    rebase.decision.ask(output, || would.text())?;
    let rebased = turn(db, schema.as_str(), rebase, Some(Kept::Other)).await?;
    wake(db).await;
    output.answer(&Report::new(&rebased, None, false), Report::text)
}

/// One transaction: what nothing is kept beside is not kept either.
async fn turn(
    db: &mut Client,
    schema: &str,
    rebase: &Rebase,
    kept: Option<Kept<'_>>,
) -> Result<Rebased, CommandError> {
    let Rebase { same_server, all, decision, .. } = rebase;
    let wanted = Wanted { same_server: *same_server, all: *all, only_looks: kept.is_none() };
    let reason = &decision.reason()?;
    let unchanged = |error: tokio_postgres::Error| failed(error.into());
    let tx = db.transaction().await.map_err(unchanged)?;
    look_into(&tx, schema).await.map_err(unchanged)?;
    let rebased = rebase::rebase(&tx, wanted).await.map_err(failed)?.map_err(refused)?;
    match kept {
        None => return Ok(rebased),
        Some(Kept::Product(unknown)) => {
            let (export_ids, versions) = unknown.raised();
            job::raise_versions(&tx, &export_ids, &versions).await.map_err(unstored)?;
            let decided = NewDecision { principal: PRINCIPAL, action: ACTION, subject: schema, reason };
            decision::insert(&tx, decided).await.map_err(unstored)?;
        }
        Some(Kept::Other) => {
            let decided = decisions::NewDecision { action: ACTION, subject: schema, reason };
            decisions::record(&tx, decided).await.map_err(unchanged)?;
        }
    }
    tx.commit().await.map_err(unchanged)?;
    Ok(rebased)
}

/// Only hints: a standby looks again by itself.
async fn wake(db: &Client) {
    if let Err(error) = announce_release(db).await {
        tracing::debug!(error = %waybill_runtime::chain(&error), "could not wake the relays");
    }
}

fn refused(refusal: Refusal) -> CommandError {
    let (code, hint) = match refusal {
        Refusal::NotNeeded => (
            codes::REBASE_NOT_NEEDED,
            "nothing is to be done; after files of this server were put back: --same-server",
        ),
        Refusal::Interleaved { .. } => (codes::REBASE_INTERLEAVED, "--all sends everything again"),
    };
    CommandError::new(Exit::Refused, code, refusal.to_string()).with_hint(hint)
}

fn unstored(error: StoreError) -> CommandError {
    let message = "the rebase could not be recorded; nothing was changed";
    CommandError::new(Exit::of(&error), codes::REBASE_FAILED, message).with_source(error)
}

fn failed(error: RebaseError) -> CommandError {
    if matches!(&error, RebaseError::Database(error) if direct::is_denied(error)) {
        return direct::denied(error).with_hint("log in as the outbox's owner, who installed it");
    }
    let message = format!("{}; nothing was changed", waybill_runtime::chain(&error));
    CommandError::new(Exit::of(&error), codes::REBASE_FAILED, message).with_hint(
        "end transactions that hold the outbox, and see that `waybill migrate plan` has nothing to do",
    )
}
