//! `/v1/exports`: asking for an export, seeing it, reading its file, calling it off, trying it again, deleting it.

mod accept;
mod content;
mod create;
mod events;
mod failure;
mod file_name;
mod listing;
mod mismatch;
mod quota;
mod range;
mod representation;
mod retry;
mod show;
mod transition;
mod verified;

pub(crate) use content::content;
pub(crate) use create::create;
pub(crate) use events::events;
pub(crate) use listing::{Wanted, list};
pub(crate) use representation::representation;
pub(crate) use retry::retry;
pub(crate) use show::{find, show};
pub(crate) use transition::{Said, cancel, delete, refused};

use waybill_domain::ids::ExportId;

use crate::problem::{Kind, Problem};

/// The same for an export that is not there, for another tenant's and for a text that is no id at all.
pub(crate) fn not_found(text: &str) -> Problem {
    Problem::new(&Kind::EXPORT_NOT_FOUND, format!("There is no export {text:?}."))
}

/// Reads an export's id strictly.
pub(crate) fn parse_id(text: &str) -> Result<ExportId, Problem> {
    ExportId::parse(text).map_err(|_malformed| not_found(text))
}
