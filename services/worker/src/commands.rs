//! Commands: each is a wake-up and nothing else. The work is the job's row.
//!
//! The position moves once due work was looked for, whatever was found, and whether or not a slot was free: `due_at`
//! and the lease are the durable plan by which the rest is found. Deliberately absent: execution, and any use of the
//! transaction that moves the position, so that no export ever holds a partition up.

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Transaction;
use waybill_consumer::{Batch, DecodeError, Dedup, Effect, EffectError, EventKey, Record};
use waybill_contract::{ExportCommand, Schemas};
use waybill_subscription::read_command;

use crate::dispatch::WakeUp;

/// The dispatcher has ended; the process is about to.
#[derive(Debug, thiserror::Error)]
#[error("the worker no longer looks for work")]
struct DispatcherEnded;

/// Wakes the dispatcher for every batch of commands.
pub(crate) struct CommandWakeUps {
    pub(crate) schemas: Schemas,
    pub(crate) wake_ups: mpsc::Sender<WakeUp>,
}

#[async_trait]
impl Effect for CommandWakeUps {
    type Event = ExportCommand;

    /// A second wake-up finds the work taken.
    fn dedup(&self) -> Dedup {
        Dedup::ByEffect
    }

    fn decode(&self, record: &Record) -> Result<ExportCommand, DecodeError> {
        read_command(&self.schemas, record)
    }

    fn event_key(&self, command: &ExportCommand) -> EventKey {
        EventKey { source: command.source.clone(), id: command.command_id.clone() }
    }

    async fn apply(
        &self,
        _tx: &Transaction<'_>,
        batch: &Batch<'_, ExportCommand>,
    ) -> Result<(), EffectError> {
        for delivery in &batch.events {
            tracing::debug!(
                export_id = %delivery.event.export_id,
                command_id = delivery.event.command_id,
                reason = delivery.event.reason.as_str(),
                offset = delivery.offset,
                "woken"
            );
        }
        let (looked, answer) = oneshot::channel();
        self.wake_ups
            .send(WakeUp { looked })
            .await
            .map_err(|_closed| EffectError::failed(DispatcherEnded))?;
        answer.await.map_err(|_closed| EffectError::failed(DispatcherEnded))?.map_err(EffectError::failed)
    }
}
