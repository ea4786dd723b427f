//! Whether the worker may read what callers may export.

use std::sync::Arc;

use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;
use waybill_runtime::{Config, Context, Health, Role, Schema, chain};
use waybill_store::StoreError;
use waybill_store::dataset::{self, Dataset};

use super::finding::Findings;
use super::postgres::not_connected;

/// Data sets of one query.
const PAGE_ROWS: i64 = 100;

pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let health = Health::new(Role::Worker);
    let config = Arc::new(config.clone());
    // What keeps the worker from its settings and from the database of exports was said before.
    let context = Context::new(Arc::clone(&config), Role::Worker, &health, CancellationToken::new());
    let Ok(context) = context else { return };
    let Ok(export) = context.dedicated(Schema::Export).await else { return };
    let Ok(datasets) = registered(&export.client).await else { return };
    let subject = format!("postgres dataset as {}", Role::Worker);
    let source = match context.dedicated(Schema::Dataset).await {
        Ok(source) => source,
        Err(error) => return not_connected(&error, Role::Worker, &subject, findings),
    };
    if datasets.is_empty() {
        return findings.ok(subject, "connects; no data set is registered yet");
    }
    for dataset in &datasets {
        if let Err(error) = one(&source.client, &config, dataset, findings).await {
            findings.fail(subject_of(dataset), chain(&error), "look into the server's log");
        }
    }
}

async fn registered(export: &Client) -> Result<Vec<Dataset>, StoreError> {
    let mut datasets: Vec<Dataset> = Vec::new();
    loop {
        let after = datasets.last().map(|dataset| dataset.dataset.as_str());
        let page = dataset::list(export, after, PAGE_ROWS).await?;
        if page.is_empty() {
            return Ok(datasets);
        }
        datasets.extend(page);
    }
}

/// What the worker can read of one data set.
async fn one(
    source: &Client,
    config: &Config,
    dataset: &Dataset,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let (schema, relation) = (&dataset.source_schema, &dataset.source_relation);
    let worker = &config.credentials.of(Role::Worker).user;
    let subject = subject_of(dataset);
    let columns = dataset::source_columns(source, schema, relation).await?;
    let access = dataset::source_access(source, schema, relation, worker).await?;
    let (false, Some(access)) = (columns.is_empty(), access) else {
        findings.fail(
            subject,
            format!("there is no table or view {schema}.{relation}"),
            "make it again, or point database.dataset.url at the database that has it",
        );
        return Ok(());
    };
    let named = [&dataset.tenant_column].into_iter().chain(&dataset.key_columns).chain(&dataset.columns);
    let gone: Vec<&str> = named.filter(|column| !columns.contains(column)).map(String::as_str).collect();
    let missing = access.missing_grants();
    if !missing.is_empty() {
        findings.fail(subject, format!("{worker} may not read {schema}.{relation}"), missing.join(" "));
    } else if !gone.is_empty() {
        findings.fail(
            subject,
            format!("{schema}.{relation} has no longer {}", gone.join(", ")),
            "bring the columns back, or register the data set under another name without them",
        );
    } else {
        findings.ok(subject, format!("{worker} may read {schema}.{relation}"));
    }
    Ok(())
}

fn subject_of(dataset: &Dataset) -> String {
    format!("data set {}", dataset.dataset)
}
