//! `/v1/ops`: what an operator does. The principal is the actor of every decision; nothing in a body can say another.

mod api_keys;
mod datasets;
mod decision;
mod exports;
mod limits;
mod name;
mod objects;
mod outbox;
mod parked;
mod quarantine;
mod rotation;
mod tenants;

pub(crate) use api_keys::{
    NewKey, NewServiceAccount, create_api_key, create_service_account, revoke_api_key,
};
pub(crate) use datasets::{
    Apply, Check, Which as WhichRevision, apply_dataset, check_dataset, list_datasets, show_dataset,
};
pub(crate) use exports::{fail_export, release_export};
pub(crate) use limits::{WAITING_LIMIT_MAX, limit_tenant};
pub(crate) use objects::{Wanted as ObjectsWanted, list_objects, list_unknown_objects};
pub(crate) use outbox::{Accepted as AcceptedTopic, accept_topic, show_outbox};
pub(crate) use parked::{
    About as ParkedAbout, Asked as ParkedAsked, discard_all_parked, discard_parked, list_parked,
    retry_all_parked, retry_parked, show_parked,
};
pub(crate) use quarantine::{Wanted as ExportsWanted, export_timeline, list_exports, show_export};
pub(crate) use rotation::{OVERLAP_SECONDS_MAX, Wanted as KeysWanted, list_api_keys, rotate_api_key};
pub(crate) use tenants::{
    NewTenant, RUNNING_LIMIT_MAX, create_tenant, list_tenants, not_found as tenant_not_found, resume_tenant,
    suspend_tenant,
};
