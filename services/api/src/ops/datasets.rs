//! Data sets: their files are checked against the databases that they name, and applied as revisions.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use waybill_datasets::{Declaration, FileProblem, PinnedColumn, Revision, changes, parse};
use waybill_runtime::{PoolError, chain};
use waybill_source::{Examination, Level, examine};
use waybill_store::dataset::{self, DatasetRevision, NewRevision};

use crate::app::App;
use crate::catalog::{offered, revision};
use crate::page::Page;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{JsonBody, Parameters, PathId};

/// How often a revision is tried to be made the next one, when somebody else applies the same data set.
const APPLY_TRIES_MAX: u32 = 3;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    /// The text of the file.
    file: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Apply {
    /// The text of the file.
    file: String,
    /// Whether only to say what would be changed.
    #[serde(default)]
    dry_run: bool,
}

/// Which revision is wanted; the last one, if it is not said.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    #[param(nullable = false, minimum = 1)]
    revision: Option<i64>,
}

/// `POST /v1/ops/dataset-check`. Everything that is to be said about a file is an answer; nothing is stored.
pub(crate) async fn check_dataset(
    State(app): State<App>,
    principal: Principal,
    body: JsonBody,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let Check { file } = body.parse()?;
    let declaration = match parse(&file) {
        Ok(declaration) => declaration,
        Err(problems) => {
            let problems = shown_problems(&problems);
            return Ok(Json(json!({
                "dataset": null, "passes": false, "problems": problems, "findings": [],
            })));
        }
    };
    let examination = examined(&app, &declaration).await?;
    Ok(Json(json!({
        "dataset": declaration.dataset,
        "passes": examination.passes(),
        "problems": [],
        "findings": examination.findings,
    })))
}

/// `POST /v1/ops/datasets`. A file that changes nothing makes no revision and is answered with 200.
pub(crate) async fn apply_dataset(
    State(app): State<App>,
    principal: Principal,
    body: JsonBody,
) -> Answer<(StatusCode, Json<Value>)> {
    principal.operator()?;
    let Apply { file, dry_run } = body.parse()?;
    let declaration = parse(&file).map_err(|problems| {
        let detail = problems.first().map_or_else(String::new, |problem| format!("Line {problem}."));
        Problem::new(&Kind::DATASET_FILE_INVALID, detail).with("problems", shown_problems(&problems))
    })?;
    let examination = examined(&app, &declaration).await?;
    let findings = json!(examination.findings);
    let columns = suitable(&declaration, examination)?;
    let (made, changes) = apply(&app, &principal, &declaration, &columns, dry_run).await?;
    let status = if made.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let answer = json!({
        "dataset": declaration.dataset,
        "revision": made.revision,
        "applied": made.is_new,
        "changes": changes,
        "findings": findings,
    });
    Ok((status, Json(answer)))
}

/// `GET /v1/ops/datasets`.
pub(crate) async fn list_datasets(
    State(app): State<App>,
    principal: Principal,
    Parameters(page): Parameters<Page>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let limit = page.limit()?;
    let stored = dataset::list(&**app.export().await?, page.after_dataset()?, limit).await?;
    let next = Page::next(&stored, limit, |dataset| dataset.dataset.clone());
    let datasets: Vec<Value> = stored.into_iter().map(shown).collect::<Answer<_>>()?;
    Ok(Json(json!({ "datasets": datasets, "next": next })))
}

/// `GET /v1/ops/datasets/{dataset}`, in its last revision or in the one that is asked for.
pub(crate) async fn show_dataset(
    State(app): State<App>,
    principal: Principal,
    PathId(name): PathId,
    Parameters(which): Parameters<Which>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let db = app.export().await?;
    let stored = match which.revision {
        Some(number) => dataset::find(&**db, &name, number).await?,
        None => dataset::latest(&**db, &name).await?,
    };
    let missing = || {
        let which = which.revision.map(|number| format!(" with a revision {number}")).unwrap_or_default();
        Problem::new(&Kind::DATASET_NOT_FOUND, format!("There is no data set {name:?}{which}."))
    };
    shown(stored.ok_or_else(missing)?).map(Json)
}

/// What the data set's database says, to whoever reads it.
async fn examined(app: &App, declaration: &Declaration) -> Answer<Examination> {
    let source = &declaration.source;
    let connected = app.sources().connect(source).await;
    let connection = connected.map_err(|error| unconnected(source, &error))?;
    examine(&connection, declaration).await.map_err(|error| unavailable(source, &error))
}

fn unconnected(source: &str, error: &PoolError) -> Problem {
    if !matches!(error, PoolError::SourceUnknown { .. }) {
        return unavailable(source, error);
    }
    Problem::new(&Kind::SOURCE_UNKNOWN, format!("The api's configuration has no [sources.{source}]."))
}

fn unavailable(source: &str, error: &(dyn std::error::Error + 'static)) -> Problem {
    tracing::warn!(code = Kind::SOURCE_UNAVAILABLE.code, source, error = %chain(error), "a source does not answer");
    let detail = format!("The database of [sources.{source}] does not answer; the api's log says why.");
    Problem::new(&Kind::SOURCE_UNAVAILABLE, detail)
}

/// The columns of a data set that fits its database.
fn suitable(declaration: &Declaration, examination: Examination) -> Answer<Vec<PinnedColumn>> {
    let passes = examination.passes();
    match examination.columns {
        Some(columns) if passes => Ok(columns),
        Some(_) | None => {
            let failures = examination.findings.iter().filter(|finding| finding.level == Level::Fail);
            let failures: Vec<String> =
                failures.map(|finding| format!("{}: {}", finding.subject, finding.message)).collect();
            let detail = format!("{} cannot be applied. {}.", declaration.dataset, failures.join("; "));
            let findings = json!(examination.findings);
            Err(Problem::new(&Kind::DATASET_CHECK_FAILED, detail).with("findings", findings))
        }
    }
}

/// What stands after a file was applied.
struct Made {
    revision: i64,
    is_new: bool,
}

/// Stores the next revision, where anything changes. Whoever applies at the same moment is seen, and compared with.
async fn apply(
    app: &App,
    principal: &Principal,
    declaration: &Declaration,
    columns: &[PinnedColumn],
    dry_run: bool,
) -> Answer<(Made, Vec<String>)> {
    let name = &declaration.dataset;
    let (stored_declaration, stored_columns) = (json!(declaration), json!(columns));
    let db = app.export().await?;
    for _ in 0..APPLY_TRIES_MAX {
        let before = dataset::latest(&**db, name).await?.map(revision).transpose()?;
        let last = before.as_ref().map_or(0, |before| before.revision);
        let next =
            Revision { revision: last + 1, declaration: declaration.clone(), columns: columns.to_vec() };
        let changes = changes(before.as_ref(), &next);
        if changes.is_empty() || dry_run {
            return Ok((Made { revision: last, is_new: false }, changes));
        }
        let new = NewRevision {
            dataset: name,
            revision: next.revision,
            declaration: &stored_declaration,
            columns: &stored_columns,
            applied_by: principal.service_account_id.as_str(),
        };
        if let Some(made) = dataset::insert(&**db, new).await? {
            tracing::info!(dataset = made.dataset, revision = made.revision, "applied a data set");
            return Ok((Made { revision: made.revision, is_new: true }, changes));
        }
    }
    Err(Problem::new(&Kind::OVERLOADED, format!("Others keep applying the data set {name:?}.")))
}

fn shown_problems(problems: &[FileProblem]) -> Value {
    let problems = problems.iter();
    let problems =
        problems.map(|wrong| json!({ "line": wrong.line, "key": wrong.key, "problem": wrong.problem }));
    problems.collect()
}

/// A data set as operators see it: all that callers see, and where its rows lie and whose they are.
fn shown(stored: DatasetRevision) -> Answer<Value> {
    let (applied_by, applied_at) = (stored.applied_by.clone(), stored.applied_at);
    let revision = revision(stored)?;
    let declaration = &revision.declaration;
    let mut shown = offered(&revision);
    let members = [
        ("source", json!(declaration.source)),
        ("rows", json!(declaration.rows)),
        ("owner", json!(declaration.owner)),
        ("max_snapshot_age_seconds", json!(declaration.max_snapshot_age_seconds)),
        ("statement_timeout_seconds", json!(declaration.statement_timeout_seconds)),
        ("applied_by", json!(applied_by)),
        ("applied_at", json!(applied_at)),
    ];
    for (name, value) in members {
        shown[name] = value;
    }
    Ok(shown)
}
