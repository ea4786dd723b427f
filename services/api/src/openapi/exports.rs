//! What a tenant's key opens.

use utoipa::openapi::path::HttpMethod;
use utoipa::openapi::path::HttpMethod::{Delete, Get, Head, Post};

use super::asked::Asked;
use super::operation::Operation;
use super::shapes::{Counters, Datasets, Described, Event, Export, ExportPage, Hits, Timeline, Usage};
use crate::exports::{Said, Wanted};
use crate::search;

const READ: &str = "exports:read";
const WRITE: &str = "exports:write";

/// The headers of a new export's answer, and of one's that there is already.
const NEW: [&str; 2] = ["Location", "Retry-After"];
const KNOWN: [&str; 1] = ["Location"];

/// A data set's name.
pub(super) const DATASET: &str = "^[a-z][a-z0-9_-]{0,62}$";

fn read(method: HttpMethod, path: &'static str, id: &str, summary: &str) -> Operation {
    Operation::new(method, path, id, READ, summary)
}

fn write(method: HttpMethod, path: &'static str, id: &str, summary: &str) -> Operation {
    Operation::new(method, path, id, WRITE, summary)
}

pub(super) fn operations() -> Vec<Operation> {
    let mut operations = vec![
        Operation::public("/openapi.json", "openapi", "This document")
            .answers::<Described>("200", "The document."),
        read(Get, "/v1/exports", "listExports", "The tenant's exports, newest first")
            .query::<Wanted>()
            .answers::<ExportPage>("200", "A page."),
        write(Post, "/v1/exports", "createExport", "Ask for an export")
            .intent()
            .body::<Asked>()
            .problem("404", "There is no such data set.")
            .answers_with::<Export>("202", "Accepted.", &NEW)
            .answers_with::<Export>("200", "The intent stands already for this export.", &KNOWN),
    ];
    operations.extend(of_one());
    operations.extend(of_a_file());
    operations.extend(found());
    operations
}

fn of_one() -> [Operation; 6] {
    [
        read(
            Get,
            "/v1/exports/{export_id}",
            "showExport",
            "An export, or as soon as it is other than it was",
        )
        .may("Prefer", "`wait=SECONDS`, 60 at the most (RFC 7240).")
        .may("If-None-Match", "What the caller has.")
        .answers_with::<Export>("200", "The export.", &["ETag"])
        .responds("304", "It is what the caller has.", None, &["ETag"]),
        write(Delete, "/v1/exports/{export_id}", "deleteExport", "Delete an export that has its outcome")
            .query::<Said>()
            .answers::<Export>("200", "Deleted, now or before.")
            .problem("409", "It is under way; cancel it first."),
        write(Post, "/v1/exports/{export_id}/cancel", "cancelExport", "Call an export off")
            .query::<Said>()
            .answers::<Export>("200", "Cancelled, now or before.")
            .problem("409", "Its state does not allow it."),
        write(Post, "/v1/exports/{export_id}/retry", "retryExport", "Ask for the same as a failed export")
            .intent()
            .answers_with::<Export>("202", "Accepted, as a new export.", &NEW)
            .answers_with::<Export>("200", "The intent stands already for this export.", &KNOWN)
            .problem("409", "It has not failed."),
        read(Get, "/v1/exports/{export_id}/timeline", "showTimeline", "Its way, from what is stored")
            .answers::<Timeline>("200", "The steps."),
        read(
            Get,
            "/v1/exports/{export_id}/events",
            "followExport",
            "What it is, and each change until its outcome",
        )
        .may("Last-Event-ID", "What the caller saw last.")
        .streams::<Event>("200", "The export, and each change of it.")
        .responds("204", "There is nothing more to come.", None, &[])
        .problem("429", "As many follow and wait as may."),
    ]
}

fn of_a_file() -> [Operation; 2] {
    let path = "/v1/exports/{export_id}/content";
    let of_file = |method, id: &str, summary: &str| {
        read(method, path, id, summary)
            .may("If-None-Match", "What the caller has.")
            .responds("304", "It is what the caller has.", None, &["ETag"])
            .problem("409", "It has no result, yet or ever.")
            .problem("410", "Its result's time is over, or it was deleted.")
    };
    let described = ["ETag", "Repr-Digest", "Content-Disposition", "Accept-Ranges"];
    [
        of_file(Get, "readContent", "Its file, or a part of it")
            .may("Range", "One range of bytes.")
            .may("If-Range", "The part is wanted of this file only.")
            .responds("200", "The file.", Some("*/*"), &described)
            .responds("206", "A part of it.", Some("*/*"), &described)
            .responds("302", "The store has it, at `Location`, for 5 minutes.", None, &["Location"])
            .problem("416", "It has no such bytes."),
        of_file(Head, "describeContent", "What a GET would say, without the file").responds(
            "200",
            "The file's description.",
            None,
            &described,
        ),
    ]
}

fn found() -> [Operation; 4] {
    [
        read(Get, "/v1/datasets", "listDatasets", "What the tenant can export")
            .page(DATASET)
            .answers::<Datasets>("200", "A page."),
        read(Get, "/v1/search", "search", "Exports by what they are called and labelled")
            .query::<search::Wanted>()
            .answers::<Hits>("200", "The newest that hold every part of the query."),
        read(Get, "/v1/stats", "showStats", "How many exports became what")
            .answers::<Counters>("200", "By data set."),
        read(Get, "/v1/usage", "showUsage", "What the tenant may have, and has")
            .answers::<Usage>("200", "Of one moment."),
    ]
}
