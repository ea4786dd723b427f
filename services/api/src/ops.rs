//! `/v1/ops`: what an operator does. The principal is the actor of every decision; nothing in a body can say another.

mod api_keys;
mod datasets;
mod decision;
mod exports;
mod name;
mod objects;
mod outbox;
mod parked;
mod quarantine;
mod tenants;

pub(crate) use api_keys::{create_api_key, create_service_account, revoke_api_key};
pub(crate) use datasets::{apply_dataset, check_dataset, list_datasets, show_dataset};
pub(crate) use exports::{fail_export, release_export};
pub(crate) use objects::{list_objects, list_unknown_objects};
pub(crate) use outbox::{accept_topic, show_outbox};
pub(crate) use parked::{
    discard_all_parked, discard_parked, list_parked, retry_all_parked, retry_parked, show_parked,
};
pub(crate) use quarantine::{export_timeline, list_exports, show_export};
pub(crate) use tenants::{create_tenant, list_tenants, resume_tenant, suspend_tenant};
