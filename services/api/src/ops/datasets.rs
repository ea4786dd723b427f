//! Data sets: registered after a look at the relation itself, in the data sets' own database.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use waybill_domain::export::{FieldError, is_dataset_name};
use waybill_runtime::Role;
use waybill_store::dataset::{self, ColumnType, Dataset, NewDataset};

use crate::app::App;
use crate::page::Page;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{JsonBody, Parameters};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registration {
    dataset: String,
    source_schema: String,
    source_relation: String,
    tenant_column: String,
    key_columns: Vec<String>,
    /// Absent: all of the relation's.
    columns: Option<Vec<String>>,
}

/// `POST /v1/ops/datasets`. The same registration again answers 200 and changes nothing.
pub(crate) async fn register_dataset(
    State(app): State<App>,
    principal: Principal,
    body: JsonBody,
) -> Answer<(StatusCode, Json<Value>)> {
    principal.operator()?;
    let registration: Registration = body.parse()?;
    let relation = introspect(&app, &registration).await?;
    let new = checked(registration, &relation)?;
    let db = app.export().await?;
    if let Some(made) = dataset::insert(&**db, &new).await? {
        tracing::info!(dataset = made.dataset, "registered a data set");
        return Ok((StatusCode::CREATED, Json(shown(&made))));
    }
    let stands = dataset::find(&**db, &new.dataset).await?.filter(|stands| is_same(stands, &new));
    let stands = stands.ok_or_else(|| {
        let detail = format!("There is a data set {:?} already, and it says something else.", new.dataset);
        Problem::new(&Kind::NAME_TAKEN, detail)
    })?;
    Ok((StatusCode::OK, Json(shown(&stands))))
}

/// `GET /v1/ops/datasets`.
pub(crate) async fn list_datasets(
    State(app): State<App>,
    principal: Principal,
    Parameters(page): Parameters<Page>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let limit = page.limit()?;
    let datasets = dataset::list(&**app.export().await?, page.after.as_deref(), limit).await?;
    let next = Page::next(&datasets, limit, |dataset| dataset.dataset.clone());
    let datasets: Vec<Value> = datasets.iter().map(shown).collect();
    Ok(Json(json!({ "datasets": datasets, "next": next })))
}

/// What the data sets' own database says about a relation.
struct Relation {
    columns: Vec<String>,
    /// The type of the column that is to hold the tenant; `None` where there is no such column.
    tenant_type: Option<ColumnType>,
}

/// The relation, once it is known that the worker may read it.
async fn introspect(app: &App, registration: &Registration) -> Answer<Relation> {
    let Registration { source_schema: schema, source_relation: relation, .. } = registration;
    let source = app.dataset().await?;
    let columns = dataset::source_columns(&**source, schema, relation).await?;
    let worker = &app.config().credentials.of(Role::Worker).user;
    let access = dataset::source_access(&**source, schema, relation, worker).await?;
    let (false, Some(access)) = (columns.is_empty(), access) else {
        return Err(Problem::new(
            &Kind::DATASET_SOURCE_NOT_FOUND,
            format!("The data sets' database has no table or view {schema:?}.{relation:?}."),
        ));
    };
    let missing = access.missing_grants();
    if missing.is_empty() {
        let tenant_column = &registration.tenant_column;
        let tenant_type = dataset::source_column_type(&**source, schema, relation, tenant_column).await?;
        return Ok(Relation { columns, tenant_type });
    }
    let detail = if access.role_exists {
        format!("The role {worker} may not read {schema}.{relation}. Run: {}", missing.join(" "))
    } else {
        format!("The data sets' database has no role {worker}. Make it, then run: {}", missing.join(" "))
    };
    Err(Problem::new(&Kind::DATASET_SOURCE_UNREADABLE, detail).with("grants", missing.into()))
}

fn checked(registration: Registration, relation: &Relation) -> Answer<NewDataset> {
    let existing = &relation.columns;
    let mut errors = Vec::new();
    let mut add = |field: String, problem: String| errors.push(FieldError { field, problem });
    if !is_dataset_name(&registration.dataset) {
        add("dataset".to_owned(), "must be 1 to 63 of a-z 0-9 _ -, beginning with a letter".to_owned());
    }
    if let Some(other) = relation.tenant_type.as_ref().filter(|column| !column.is_text) {
        add("tenant_column".to_owned(), no_tenant_column(&registration.tenant_column, other));
    }
    let columns = registration.columns.unwrap_or_else(|| existing.clone());
    let tenant_column = [registration.tenant_column.clone()];
    let lists: [(&str, &[String]); 3] = [
        ("tenant_column", &tenant_column),
        ("key_columns", &registration.key_columns),
        ("columns", &columns),
    ];
    for (field, names) in lists {
        if names.is_empty() {
            add(field.to_owned(), "must name a column".to_owned());
        }
        for (index, name) in names.iter().enumerate() {
            if !existing.contains(name) {
                let columns = existing.join(", ");
                add(
                    field.to_owned(),
                    format!("names {name:?}, which the relation does not have; it has {columns}"),
                );
            } else if names[..index].contains(name) {
                add(field.to_owned(), format!("names {name:?} for the second time"));
            }
        }
    }
    if !errors.is_empty() {
        return Err(Problem::fields(&errors));
    }
    Ok(NewDataset {
        dataset: registration.dataset,
        source_schema: registration.source_schema,
        source_relation: registration.source_relation,
        tenant_column: registration.tenant_column,
        key_columns: registration.key_columns,
        columns,
    })
}

/// Why a column that is no text cannot say whose a row is: an id of ours never equals its values.
fn no_tenant_column(name: &str, column: &ColumnType) -> String {
    format!(
        "names {name:?}, which is {}; it must be text, varchar or char and hold Waybill's tenant ids (ten_…). \
         Register a view that maps or casts it: docs/api.md, \"Whose a row is\", has one",
        column.name
    )
}

fn is_same(stands: &Dataset, new: &NewDataset) -> bool {
    stands.source_schema == new.source_schema
        && stands.source_relation == new.source_relation
        && stands.tenant_column == new.tenant_column
        && stands.key_columns == new.key_columns
        && stands.columns == new.columns
}

fn shown(dataset: &Dataset) -> Value {
    json!({
        "dataset": dataset.dataset,
        "source_schema": dataset.source_schema,
        "source_relation": dataset.source_relation,
        "tenant_column": dataset.tenant_column,
        "key_columns": dataset.key_columns,
        "columns": dataset.columns,
        "created_at": dataset.created_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registration(key_columns: &[&str], columns: Option<&[&str]>) -> Registration {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Registration {
            dataset: "orders".to_owned(),
            source_schema: "public".to_owned(),
            source_relation: "orders".to_owned(),
            tenant_column: "tenant".to_owned(),
            key_columns: owned(key_columns),
            columns: columns.map(owned),
        }
    }

    fn relation(tenant_type: &str) -> Relation {
        let tenant_type = ColumnType { name: tenant_type.to_owned(), is_text: tenant_type == "text" };
        let columns = ["tenant", "id", "total"].map(str::to_owned).to_vec();
        Relation { columns, tenant_type: Some(tenant_type) }
    }

    fn existing() -> Relation {
        relation("text")
    }

    #[test]
    fn without_columns_all_of_the_relations_are_taken() {
        assert_eq!(checked(registration(&["id"], None), &existing()).unwrap().columns, existing().columns);
    }

    #[test]
    fn a_tenant_column_that_is_no_text_is_refused_with_what_to_do() {
        let problem = checked(registration(&["id"], None), &relation("integer")).unwrap_err();
        assert_eq!(problem.errors(), ["tenant_column"]);
        let detail = problem.detail();
        assert!(detail.contains("which is integer") && detail.contains("Register a view"), "{detail}");
    }

    #[test]
    fn missing_repeated_and_absent_columns_are_all_named_at_once() {
        let problem = checked(registration(&["nr"], Some(&["id", "id"])), &existing()).unwrap_err();
        assert_eq!(problem.errors(), ["key_columns", "columns"]);
        let problem = checked(registration(&[], Some(&[])), &existing()).unwrap_err();
        assert_eq!(problem.errors(), ["key_columns", "columns"]);
    }
}
