//! `GET /v1/datasets`: what the caller's tenant can export.

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};
use waybill_datasets::Revision;
use waybill_domain::export::Format;
use waybill_store::api_key::Scope;
use waybill_store::dataset::{self, DatasetRevision};

use crate::app::App;
use crate::page::Page;
use crate::principal::Principal;
use crate::problem::{Answer, Problem};
use crate::request::Parameters;

/// Answers the data sets by name, with all that may be asked of them and nothing about where they lie.
pub(crate) async fn datasets(
    State(app): State<App>,
    principal: Principal,
    Parameters(page): Parameters<Page>,
) -> Answer<Json<Value>> {
    principal.tenant(Scope::ExportsRead)?;
    let limit = page.limit()?;
    let stored = dataset::list(&**app.export().await?, page.after_dataset()?, limit).await?;
    let next = Page::next(&stored, limit, |dataset| dataset.dataset.clone());
    let datasets: Vec<Value> =
        stored.into_iter().map(|stored| Ok(offered(&revision(stored)?))).collect::<Answer<_>>()?;
    Ok(Json(json!({ "datasets": datasets, "next": next })))
}

/// The revision that is stored like this.
pub(crate) fn revision(stored: DatasetRevision) -> Answer<Revision> {
    let read = Revision::read(stored.revision, stored.declaration, stored.columns);
    read.map_err(|error| Problem::internal(&error))
}

/// What may be asked of a data set.
pub(crate) fn offered(revision: &Revision) -> Value {
    let declaration = &revision.declaration;
    let column = |name: &str| revision.pinned(name);
    let type_name = |name: &str| column(name).map(|column| column.type_name.as_str());
    let columns = declaration.columns.iter().map(|declared| {
        json!({
            "name": declared.name,
            "type": type_name(&declared.name),
            "description": declared.description,
            "as_text": declared.as_text,
        })
    });
    let filters = declaration.filters.iter().map(|(name, operators)| {
        let labels = column(name).map(|column| column.labels.as_slice()).filter(|labels| !labels.is_empty());
        let operators: Vec<&str> = operators.iter().map(|operator| operator.as_str()).collect();
        (name.clone(), json!({ "type": type_name(name), "operators": operators, "values": labels }))
    });
    json!({
        "dataset": declaration.dataset,
        "revision": revision.revision,
        "description": declaration.description,
        "columns": columns.collect::<Vec<_>>(),
        "filters": filters.collect::<Map<_, _>>(),
        "orders": declaration.orders,
        "default_order": declaration.defaults.order,
        "formats": Format::ALL.map(|format| in_format(revision, format)).into_iter().collect::<Vec<_>>(),
    })
}

/// What the columns become in a format as its defaults have it, or why some cannot.
fn in_format(revision: &Revision, format: Format) -> Value {
    let (columns, refused) = match revision.plan(format) {
        Ok(plan) => {
            let types = plan.columns().iter();
            let types = types.map(|column| (column.name().to_owned(), column.file_type().into()));
            (types.collect::<Map<String, Value>>(), Vec::new())
        }
        Err(refused) => {
            let problems = refused.problems().iter().map(|problem| {
                json!({
                    "column": problem.column, "problem": problem.problem, "instead": problem.instead,
                })
            });
            (Map::new(), problems.collect())
        }
    };
    json!({
        "format": format.as_str(),
        "compression": revision.compression(format).as_str(),
        "options": revision.options(format),
        "columns": columns,
        "refused": refused,
    })
}
