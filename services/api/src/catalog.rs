//! `GET /v1/datasets`: what the caller's tenant can export.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use waybill_store::api_key::Scope;
use waybill_store::dataset;

use crate::app::App;
use crate::page::Page;
use crate::principal::Principal;
use crate::problem::Answer;
use crate::request::Parameters;

/// Answers the data sets by name, with their columns and nothing about where they lie.
pub(crate) async fn datasets(
    State(app): State<App>,
    principal: Principal,
    Parameters(page): Parameters<Page>,
) -> Answer<Json<Value>> {
    principal.tenant(Scope::ExportsRead)?;
    let limit = page.limit()?;
    let datasets = dataset::list(&**app.export().await?, page.after.as_deref(), limit).await?;
    let next = Page::next(&datasets, limit, |dataset| dataset.dataset.clone());
    let datasets: Vec<Value> = datasets
        .into_iter()
        .map(|dataset| json!({ "dataset": dataset.dataset, "columns": dataset.columns }))
        .collect();
    Ok(Json(json!({ "datasets": datasets, "next": next })))
}
