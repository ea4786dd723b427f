//! What an operator's key opens about data sets, exports, files and the outbox.

use utoipa::openapi::path::HttpMethod;
use utoipa::openapi::path::HttpMethod::{Get, Post};

use super::decided::Reasoned;
use super::exports::DATASET;
use super::operation::Operation;
use super::shapes::{Described, Export, Timeline};
use crate::ops::{
    AcceptedTopic, Apply, Check, ExportsWanted, ObjectsWanted, ParkedAbout, ParkedAsked, WhichRevision,
};

fn operate(method: HttpMethod, path: &'static str, id: &str, summary: &str) -> Operation {
    Operation::new(method, path, id, "ops", summary)
}

/// A decision about what the path names.
fn decide(path: &'static str, id: &str, summary: &str) -> Operation {
    operate(Post, path, id, summary).body::<Reasoned>()
}

pub(super) fn operations() -> Vec<Operation> {
    [datasets(), exports(), objects(), parked()].into_iter().flatten().collect()
}

fn datasets() -> Vec<Operation> {
    vec![
        operate(Post, "/v1/ops/datasets", "applyDataset", "Store a data set's file as its next revision")
            .body::<Apply>()
            .answers::<Described>("201", "A new revision.")
            .answers::<Described>("200", "Nothing changes, or nothing may.")
            .problem("422", "The file is none, or does not fit its database."),
        operate(Get, "/v1/ops/datasets", "listDatasetRevisions", "The data sets in their last revisions")
            .page(DATASET)
            .answers::<Described>("200", "A page."),
        operate(Post, "/v1/ops/dataset-check", "checkDataset", "Hold a data set's file against its database")
            .body::<Check>()
            .answers::<Described>("200", "Whether it passes, and why not."),
        operate(Get, "/v1/ops/datasets/{dataset}", "showDataset", "A data set as it is, or was")
            .query::<WhichRevision>()
            .answers::<Described>("200", "The revision."),
    ]
}

fn exports() -> Vec<Operation> {
    let of_one = "/v1/ops/exports/{export_id}";
    vec![
        operate(Get, "/v1/ops/exports", "listQuarantined", "The exports that wait for an operator")
            .query::<ExportsWanted>()
            .answers::<Described>("200", "A page."),
        operate(Get, of_one, "showAnyExport", "An export of any tenant, and its attempts")
            .answers::<Described>("200", "The export."),
        operate(Get, "/v1/ops/exports/{export_id}/timeline", "showAnyTimeline", "Its way")
            .answers::<Timeline>("200", "The steps."),
        decide("/v1/ops/exports/{export_id}/release", "releaseExport", "Let a quarantined export try again")
            .answers::<Export>("200", "The export, pending.")
            .problem("409", "It is not quarantined."),
        decide("/v1/ops/exports/{export_id}/fail", "failExport", "End a quarantined export")
            .answers::<Export>("200", "The export, failed.")
            .problem("409", "It is not quarantined."),
    ]
}

fn objects() -> Vec<Operation> {
    vec![
        operate(Get, "/v1/ops/objects", "listObjects", "The files, and what becomes of each and why")
            .query::<ObjectsWanted>()
            .answers::<Described>("200", "A page.")
            .problem("404", "There is no export of this id."),
        operate(Get, "/v1/ops/objects/unknown", "listUnknownObjects", "Objects that no row knows")
            .page(r"^[^\u0000]+$")
            .answers::<Described>("200", "A page, which may be empty and not the last."),
    ]
}

fn parked() -> Vec<Operation> {
    let settled = "It is settled, or another one is before it.";
    vec![
        operate(Get, "/v1/ops/outbox", "showOutbox", "How the outbox stands")
            .answers::<Described>("200", "Of one moment."),
        decide("/v1/ops/outbox/accept-topic", "acceptTopic", "Send to a topic that is another one now")
            .query::<AcceptedTopic>()
            .answers::<Described>("200", "The topic.")
            .problem("404", "No such topic was ever sent to."),
        operate(Get, "/v1/ops/parked", "listParked", "Rows that Kafka did not take")
            .query::<ParkedAsked>()
            .answers::<Described>("200", "A page."),
        operate(Get, "/v1/ops/parked/{seq}", "showParked", "A row, whole")
            .answers::<Described>("200", "The row."),
        decide("/v1/ops/parked/{seq}/retry", "retryParked", "Let a row be sent again")
            .answers::<Described>("200", "The row.")
            .problem("409", settled),
        decide("/v1/ops/parked/{seq}/discard", "discardParked", "Let a row never be sent")
            .answers::<Described>("200", "The row.")
            .problem("409", settled),
        decide("/v1/ops/parked/retry", "retryAllParked", "Let rows of a topic or a code be sent again")
            .query::<ParkedAbout>()
            .problem("422", "Neither a topic nor a code is given.")
            .answers::<Described>("200", "How many."),
        decide("/v1/ops/parked/discard", "discardAllParked", "Let rows of a topic or a code never be sent")
            .query::<ParkedAbout>()
            .problem("422", "Neither a topic nor a code is given.")
            .answers::<Described>("200", "How many."),
    ]
}
