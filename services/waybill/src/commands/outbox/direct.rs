//! An outbox over a connection of the command's own: any that `waybill outbox install` made, and the product's own when the
//! api is down. Whoever logs in is the actor, as the database knows them.

use serde_json::Value;
use tokio_postgres::{Client, IsolationLevel, Transaction};
use waybill_operator::{Error, Proposal, Refusal, Wanted};
use waybill_outbox::SchemaName;
use waybill_outbox::decisions::{self, NewDecision};
use waybill_outbox::parked::{ParkedError, look_into};
use waybill_runtime::config::DatabaseUrl;
use waybill_runtime::pool::Address;
use waybill_runtime::{Dedicated, Schema, chain};
use waybill_store::migrations::{self, InstallError};

use super::install::not_installed;
use crate::codes;
use crate::commands::{CommandError, database_refused};
use crate::exit::Exit;

/// How the server's views name the connection.
const APPLICATION_NAME: &str = "waybill-outbox";
/// How long a row is waited for that somebody holds. The relay holds one for a statement; a forgotten session, for ever.
const LOCK_TIMEOUT_MS: u32 = 5_000;

/// A connection to the database of an outbox whose structure this version knows.
pub(crate) struct Direct {
    db: Dedicated,
    schema: SchemaName,
}

impl Direct {
    pub(super) async fn connect(schema: &str, url: &DatabaseUrl) -> Result<Self, CommandError> {
        let schema = schema_name(schema)?;
        let db = connect(url, APPLICATION_NAME).await?;
        migrations::check_outbox(&*db, schema.as_str()).await.map_err(|error| unusable(&schema, error))?;
        Ok(Self { db, schema })
    }

    pub(super) fn schema(&self) -> &SchemaName {
        &self.schema
    }

    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.db.client
    }

    /// Whether it is the outbox of Waybill's own exports.
    pub(super) async fn is_own(&self) -> Result<bool, CommandError> {
        let is_own = migrations::is_own_outbox(&*self.db, self.schema.as_str()).await;
        is_own.map_err(|error| unusable(&self.schema, error))
    }

    pub(super) async fn status(&mut self) -> Result<Value, CommandError> {
        let name = self.schema.clone();
        let answer = async { waybill_operator::status(&self.look().await?, name.as_str()).await };
        answer.await.map_err(|error| failed(&self.schema, error))
    }

    pub(super) async fn list(&mut self, wanted: &Wanted<'_>) -> Result<Value, CommandError> {
        let answer = async { waybill_operator::list(&self.look().await?, wanted).await };
        answer.await.map_err(|error| failed(&self.schema, error))
    }

    pub(super) async fn show(&mut self, seq: &str) -> Result<Value, CommandError> {
        let answer = async { waybill_operator::show(&self.look().await?, seq).await };
        answer.await.map_err(|error| failed(&self.schema, error))
    }

    /// Decides in one transaction, with the record of who did and why.
    pub(super) async fn decide(
        &mut self,
        proposal: &Proposal<'_>,
        reason: &str,
        is_dry_run: bool,
    ) -> Result<Value, CommandError> {
        let decided = async {
            let tx = self.db.client.transaction().await?;
            look_into(&tx, self.schema.as_str()).await?;
            tx.batch_execute(&format!("SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}")).await?;
            let (action, subject) = (proposal.action(), proposal.subject());
            let by = decisions::record(&tx, NewDecision { action, subject: &subject, reason }).await?;
            let outcome = waybill_operator::carry_out(&tx, proposal, &by, reason).await?;
            if is_dry_run {
                tx.rollback().await?;
            } else {
                tx.commit().await?;
            }
            Ok::<_, Error>(outcome)
        };
        let outcome = decided.await.map_err(|error| failed(&self.schema, error))?;
        if !is_dry_run {
            self.wake().await;
        }
        Ok(outcome.answer(is_dry_run))
    }

    /// A transaction that sees one moment of the outbox and changes nothing.
    async fn look(&mut self) -> Result<Transaction<'_>, tokio_postgres::Error> {
        let builder = self.db.client.build_transaction();
        let tx = builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true).start().await?;
        look_into(&tx, self.schema.as_str()).await?;
        Ok(tx)
    }

    /// Only a hint: the relay polls as well.
    async fn wake(&self) {
        if let Err(error) = waybill_outbox::wake(&self.db).await {
            tracing::debug!(error = %chain(&error), "could not wake the relay");
        }
    }
}

/// A schema's name as it was typed.
pub(super) fn schema_name(name: &str) -> Result<SchemaName, CommandError> {
    name.parse().map_err(|error| {
        CommandError::new(Exit::Usage, codes::USAGE, "--schema cannot be used").with_source(error)
    })
}

/// One connection, as whoever the address names.
pub(super) async fn connect(url: &DatabaseUrl, application_name: &str) -> Result<Dedicated, CommandError> {
    let mut address = Address::parse(Schema::Outbox, url).map_err(database_refused)?;
    address.name(application_name);
    address.connect().await.map_err(database_refused)
}

/// The schema holds no outbox that this version knows, or the login may not even see that.
fn unusable(schema: &SchemaName, error: InstallError) -> CommandError {
    if error.is_refusal() {
        return not_installed(error);
    }
    if matches!(error, InstallError::HistoryUnreadable { .. }) {
        return denied(error).with_hint(granting(schema));
    }
    let exit = if error.is_dependency() { Exit::Unavailable } else { Exit::Failed };
    unanswered(exit, error)
}

fn failed(schema: &SchemaName, error: Error) -> CommandError {
    match error {
        Error::Refused(refusal) => refused(&refusal),
        Error::Outbox(ParkedError::Database(error)) if is_denied(&error) => {
            denied(error).with_hint(granting(schema))
        }
        error @ (Error::Outbox(_) | Error::CursorMissing) => unanswered(Exit::of(&error), error),
    }
}

/// Who lets a login do what an operator does.
fn granting(schema: &SchemaName) -> String {
    format!(
        "as the outbox's owner: waybill outbox install --schema {schema} --operator ROLE. Of Waybill's own outbox only its owner \
         may do so directly; the api may, without --schema and --database-url"
    )
}

/// Whether the server refused a login's right.
pub(super) fn is_denied(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE)
}

/// The login may not do this.
pub(super) fn denied(error: impl std::error::Error + Send + Sync + 'static) -> CommandError {
    let message = "the login may not do this with the outbox; nothing was changed";
    CommandError::new(Exit::Refused, codes::OUTBOX_LOGIN_REFUSED, message).with_source(error)
}

/// The outbox gave no answer.
fn unanswered(exit: Exit, error: impl std::error::Error + Send + Sync + 'static) -> CommandError {
    CommandError::new(exit, codes::OUTBOX_COMMAND_FAILED, "the outbox gave no answer")
        .with_source(error)
        .with_hint("the same command again does nothing twice")
}

/// A refusal ends as it does when the api says it.
pub(in crate::commands) fn refused(refusal: &Refusal) -> CommandError {
    let exit = match refusal {
        Refusal::Invalid { .. } => Exit::Usage,
        Refusal::NotParked { .. } | Refusal::TopicUnrecorded { .. } => Exit::NotFound,
        Refusal::Rejected { .. } => Exit::Refused,
    };
    let wording = refusal.wording();
    CommandError::new(exit, wording.code, format!("{}: {refusal}", wording.title)).with_hint(wording.next)
}
