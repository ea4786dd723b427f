//! Why a fact or a command was not written.

use waybill_contract::topics::TopicsError;
use waybill_contract::{ContractError, Malformed, SchemaError};
use waybill_domain::ids::ExportId;
use waybill_outbox::AppendError;
use waybill_store::StoreError;

use crate::codes;

/// Why a fact or a command was not written.
#[derive(Debug, thiserror::Error)]
pub enum PublicationError {
    /// The configured source can be no event's source.
    #[error("the source of this deployment can be no event's")]
    Source(#[source] Malformed),
    /// The configured prefix gives a name that Kafka refuses.
    #[error(transparent)]
    Topic(#[from] TopicsError),
    /// The embedded schemas and their lock do not fit.
    #[error(transparent)]
    Schemas(#[from] SchemaError),
    /// The caller passed a candidate that is not the job's result, or left out the one that is.
    #[error("the candidate passed for {export_id} is not the one that its row selects")]
    NotTheResult {
        /// The export.
        export_id: ExportId,
    },
    /// The event would be refused by its readers.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// The outbox refused the event, or the database did.
    #[error(transparent)]
    Outbox(#[from] AppendError),
    /// The row beside it was refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PublicationError {
    /// The code of the page about the setting that keeps this deployment from publishing; none for all other errors.
    #[must_use]
    pub const fn settings_code(&self) -> Option<&'static str> {
        match self {
            Self::Source(_) => Some(codes::DEPLOYMENT_SOURCE_INVALID),
            Self::Topic(_) => Some(codes::TOPIC_PREFIX_INVALID),
            Self::Schemas(_)
            | Self::NotTheResult { .. }
            | Self::Contract(_)
            | Self::Outbox(_)
            | Self::Store(_) => None,
        }
    }

    /// The database's error behind this one, for the caller that tells a lost connection from a refusal.
    pub fn postgres(&self) -> Option<&tokio_postgres::Error> {
        match self {
            Self::Outbox(AppendError::Database(error)) | Self::Store(StoreError::Postgres(error)) => {
                Some(error)
            }
            Self::Source(_)
            | Self::Topic(_)
            | Self::Schemas(_)
            | Self::NotTheResult { .. }
            | Self::Contract(_)
            | Self::Outbox(_)
            | Self::Store(_) => None,
        }
    }
}
