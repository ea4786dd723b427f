//! Whether what callers may export can still be read as it was applied.

use std::sync::Arc;

use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;
use waybill_datasets::{PinnedColumn, Revision};
use waybill_runtime::{Config, Context, Health, Role, Schema, Sources, chain};
use waybill_source::{Examination, Finding, Level, examine};
use waybill_store::StoreError;
use waybill_store::dataset::{self, DatasetRevision};

use super::finding::Findings;

/// Data sets of one query.
const PAGE_ROWS: i64 = 100;

pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let health = Health::new(Role::Worker);
    let config = Arc::new(config.clone());
    let sources = Sources::new(Arc::clone(&config));
    // What keeps the worker from its settings and from the database of exports was said before.
    let context = Context::new(config, Role::Worker, &health, CancellationToken::new());
    let Ok(context) = context else { return };
    let Ok(export) = context.dedicated(Schema::Export).await else { return };
    let Ok(datasets) = applied(&export.client).await else { return };
    for name in context.config.sources.keys() {
        source(&sources, name, findings).await;
    }
    for stored in datasets {
        let subject = format!("data set {}", stored.dataset);
        match Revision::read(stored.revision, stored.declaration, stored.columns) {
            Ok(revision) => one(&sources, &revision, subject, findings).await,
            Err(error) => {
                findings.fail(subject, error.to_string(), "a later version of Waybill applied it: use that");
            }
        }
    }
}

async fn applied(export: &Client) -> Result<Vec<DatasetRevision>, StoreError> {
    let mut datasets: Vec<DatasetRevision> = Vec::new();
    loop {
        let after = datasets.last().map(|dataset| dataset.dataset.as_str());
        let page = dataset::list(export, after, PAGE_ROWS).await?;
        if page.is_empty() {
            return Ok(datasets);
        }
        datasets.extend(page);
    }
}

async fn source(sources: &Sources, name: &str, findings: &mut Findings) {
    let subject = format!("source {name}");
    match sources.connect(name).await {
        Ok(_connection) => findings.ok(subject, "connects"),
        Err(error) => {
            let remedy = format!("check [sources.{name}], its login and its server");
            if error.is_dependency() {
                findings.away(subject, chain(&error), remedy);
            } else {
                findings.fail(subject, chain(&error), remedy);
            }
        }
    }
}

async fn one(sources: &Sources, revision: &Revision, subject: String, findings: &mut Findings) {
    let declaration = &revision.declaration;
    let name = &declaration.source;
    let connection = match sources.connect(name).await {
        Ok(connection) => connection,
        Err(error) => {
            return findings.fail(subject, chain(&error), format!("the data set needs [sources.{name}]"));
        }
    };
    match examine(&connection, declaration).await {
        Ok(examination) => told(revision, &examination, subject, findings),
        Err(error) => findings.fail(subject, chain(&error), "look into the log of the source's server"),
    }
}

/// The first thing that keeps the data set from being exported, or that nothing does.
fn told(revision: &Revision, examination: &Examination, subject: String, findings: &mut Findings) {
    let of_level = |level| examination.findings.iter().filter(move |finding| finding.level == level);
    let said = |finding: &Finding| format!("{}: {}", finding.subject, finding.message);
    if let Some(failure) = of_level(Level::Fail).next() {
        let failures: Vec<String> = of_level(Level::Fail).map(said).collect();
        return findings.fail(subject, failures.join("; "), failure.hint.clone().unwrap_or_default());
    }
    let changed = changed(revision, examination.columns.as_deref().unwrap_or_default());
    if !changed.is_empty() {
        return findings.fail(
            subject,
            format!("{} had another type when it was applied", changed.join(", ")),
            "apply the data set again; exports accepted before fail with dataset-column-changed",
        );
    }
    match of_level(Level::Warn).next() {
        Some(warning) => {
            let warnings: Vec<String> = of_level(Level::Warn).map(said).collect();
            findings.warn(subject, warnings.join("; "), warning.hint.clone().unwrap_or_default());
        }
        None => findings.ok(subject, format!("revision {} can be read", revision.revision)),
    }
}

fn changed<'a>(revision: &'a Revision, now: &[PinnedColumn]) -> Vec<&'a str> {
    let is_still = |pinned: &PinnedColumn| {
        now.iter().find(|column| column.name == pinned.name).is_some_and(|column| pinned.is_still(column))
    };
    let changed = revision.columns.iter().filter(|pinned| !is_still(pinned));
    changed.map(|pinned| pinned.name.as_str()).collect()
}
