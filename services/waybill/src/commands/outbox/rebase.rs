//! `waybill outbox rebase`: goes on after a restore or a failover.
//!
//! It connects by itself, as the admin, and reads Kafka: it is needed when nothing is relayed and the api may be down, it
//! locks tables of the owner's, and the api reaches no Kafka.

mod log;
mod report;
mod unknown;

use tokio_postgres::Client;
use waybill_outbox::parked::look_into;
use waybill_outbox::rebase::{self, RebaseError, Rebased, Refusal, Wanted};
use waybill_outbox::window::announce_release;
use waybill_runtime::{Config, Schema, connect_as_admin};
use waybill_store::StoreError;
use waybill_store::decision::{self, NewDecision};
use waybill_store::job;
use waybill_store::migrations::OWNER;

use crate::codes;
use crate::commands::decision::Decision;
use crate::commands::{CommandError, database_refused};
use crate::exit::Exit;
use crate::output::Output;
use report::Report;
use unknown::Unknown;

/// The product's own outbox.
const OUTBOX: &str = "outbox";
/// Who is recorded as having decided: nobody whom the api knows.
const PRINCIPAL: &str = "postgres-admin";

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
}

/// Looks first, at the outbox and at the log; then, unless only that was asked for, does it.
pub(super) async fn run(rebase: &Rebase, config: &Config, output: &Output) -> Result<(), CommandError> {
    let mut admin = connect_as_admin(config, Schema::Outbox).await.map_err(database_refused)?;
    let db = &mut admin.client;
    db.batch_execute(&format!("SET ROLE {OWNER}")).await.map_err(|error| failed(&error.into()))?;
    let looked = turn(db, rebase, None).await?;
    output.note("reading the facts that Kafka holds …");
    let unknown = unknown::find(db, config).await?;
    let would = Report::new(&looked, &unknown, true);
    if rebase.decision.is_dry_run() {
        return output.answer(&would, Report::text);
    }
    rebase.decision.ask(output, || would.text())?;
    let rebased = turn(db, rebase, Some(&unknown)).await?;
    wake(db).await;
    output.answer(&Report::new(&rebased, &unknown, false), Report::text)
}

/// One transaction: without `unknown` it only looks.
async fn turn(db: &mut Client, rebase: &Rebase, unknown: Option<&Unknown>) -> Result<Rebased, CommandError> {
    let Rebase { same_server, all, decision } = rebase;
    let wanted = Wanted { same_server: *same_server, all: *all, only_looks: unknown.is_none() };
    let unchanged = |error: tokio_postgres::Error| failed(&error.into());
    let tx = db.transaction().await.map_err(unchanged)?;
    look_into(&tx, OUTBOX).await.map_err(unchanged)?;
    let rebased = rebase::rebase(&tx, wanted).await.map_err(|error| failed(&error))?.map_err(refused)?;
    if let Some(unknown) = unknown {
        let (export_ids, versions) = unknown.raised();
        job::raise_versions(&tx, &export_ids, &versions).await.map_err(unstored)?;
        let reason = decision.reason();
        let decided = NewDecision { principal: PRINCIPAL, action: "outbox.rebase", subject: OUTBOX, reason };
        decision::insert(&tx, decided).await.map_err(unstored)?;
        tx.commit().await.map_err(unchanged)?;
    }
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

fn failed(error: &RebaseError) -> CommandError {
    let message = format!("{}; nothing was changed", waybill_runtime::chain(error));
    CommandError::new(Exit::of(error), codes::REBASE_FAILED, message).with_hint(
        "end transactions that hold the outbox, and see that `waybill migrate plan` has nothing to do",
    )
}
