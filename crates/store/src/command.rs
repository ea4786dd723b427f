//! The commands written for an export: `export.commands`. The first comes with its acceptance, later ones from the
//! reconciler or from a person's release.
//!
//! Deliberately absent: whether a command was carried out. It is a wake-up, and the job's row is the work.

use tokio_postgres::GenericClient;
use tokio_postgres::types::Type;
use waybill_domain::ids::ExportId;

use crate::StoreError;

/// A command as its table keeps it.
#[derive(Debug, Clone, Copy)]
pub struct NewCommand<'a> {
    /// The export that it is for.
    pub export_id: &'a ExportId,
    /// The CloudEvents `id`.
    pub command_id: &'a str,
    /// Why it was written: `accepted`, `overdue` or `released`.
    pub reason: &'a str,
    /// The outbox row that carries it.
    pub outbox_seq: i64,
}

/// Records a command, in the transaction that wrote its outbox row.
///
/// # Errors
/// [`StoreError::Postgres`], also where the reason is none that the table knows.
pub async fn insert(tx: &impl GenericClient, command: NewCommand<'_>) -> Result<(), StoreError> {
    tx.execute_typed(
        include_str!("command/insert.sql"),
        &[
            (&command.export_id.as_str(), Type::TEXT),
            (&command.command_id, Type::TEXT),
            (&command.reason, Type::TEXT),
            (&command.outbox_seq, Type::INT8),
        ],
    )
    .await?;
    Ok(())
}
