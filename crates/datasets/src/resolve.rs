//! What a request for a data set comes to, or everything that is wrong with it.

use waybill_domain::export::{ExportRequest, FieldError, Filters, Spec};
use waybill_formats::Plan;

use crate::kind::kind_of_spec;
use crate::revision::Revision;
use crate::value::{check_operators, check_value};

/// Why a request comes to nothing: everything that is wrong with it, one thing at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Fields that the data set does not allow.
    Fields(Vec<FieldError>),
    /// All fields are allowed; but the format cannot hold these columns exactly.
    Format(Vec<FieldError>),
}

impl Refusal {
    /// What is wrong.
    #[must_use]
    pub fn errors(&self) -> &[FieldError] {
        match self {
            Self::Fields(errors) | Self::Format(errors) => errors,
        }
    }
}

/// Holds a request against the data set that it names, without any look at the database: the types were pinned.
///
/// # Errors
/// Every field that the data set does not allow and every column that the format cannot hold, all of them at once.
pub fn resolve(request: &ExportRequest, revision: &Revision) -> Result<Spec, Refusal> {
    let mut errors = Vec::new();
    let spec = Spec {
        dataset_revision: revision.revision,
        format: request.format,
        options: request.options.or(revision.options(request.format)),
        compression: request.compression.unwrap_or(revision.compression(request.format)),
        columns: columns(request, revision, &mut errors),
        filters: request.filters.clone(),
        order: order(request, revision, &mut errors),
    };
    filters(&request.filters, revision, &mut errors);
    let of_format = unheld(&spec, revision);
    if !errors.is_empty() {
        errors.extend(of_format);
        return Err(Refusal::Fields(errors));
    }
    if of_format.is_empty() { Ok(spec) } else { Err(Refusal::Format(of_format)) }
}

/// What the format cannot hold.
fn unheld(spec: &Spec, revision: &Revision) -> Vec<FieldError> {
    let planned = kind_of_spec(spec).and_then(|kind| Plan::new(&revision.planned(&spec.columns), kind));
    let Err(refused) = planned else { return Vec::new() };
    let unheld = refused.problems().iter().filter_map(|problem| {
        let field = match &problem.column {
            Some(column) => format!("columns[{}]", spec.columns.iter().position(|name| name == column)?),
            None if spec.columns.is_empty() => return None,
            None => "format".to_owned(),
        };
        let named = problem.column.as_ref().map(|column| format!("is {column:?}: ")).unwrap_or_default();
        Some(FieldError { field, problem: format!("{named}{}; {}", problem.problem, problem.instead) })
    });
    unheld.collect()
}

fn columns(request: &ExportRequest, revision: &Revision, errors: &mut Vec<FieldError>) -> Vec<String> {
    let declared: Vec<&str> =
        revision.declaration.columns.iter().map(|column| column.name.as_str()).collect();
    let Some(wanted) = &request.columns else { return declared.into_iter().map(str::to_owned).collect() };
    for (index, column) in
        wanted.iter().enumerate().filter(|(_, column)| !declared.contains(&column.as_str()))
    {
        let problem =
            format!("is {column:?}, which the data set does not have; it has {}", declared.join(", "));
        errors.push(FieldError { field: format!("columns[{index}]"), problem });
    }
    wanted.iter().filter(|column| declared.contains(&column.as_str())).cloned().collect()
}

fn order(request: &ExportRequest, revision: &Revision, errors: &mut Vec<FieldError>) -> Option<String> {
    let declaration = &revision.declaration;
    let Some(wanted) = &request.order else { return declaration.defaults.order.clone() };
    if !declaration.orders.contains_key(wanted) {
        let orders: Vec<&str> = declaration.orders.keys().map(String::as_str).collect();
        let known = if orders.is_empty() {
            "it has none".to_owned()
        } else {
            format!("it has {}", orders.join(", "))
        };
        let problem = format!("is {wanted:?}, which the data set does not have; {known}");
        errors.push(FieldError { field: "order".to_owned(), problem });
    }
    Some(wanted.clone())
}

fn filters(filters: &Filters, revision: &Revision, errors: &mut Vec<FieldError>) {
    let declaration = &revision.declaration;
    for (column, conditions) in filters {
        let field = format!("filters.{column}");
        let Some((allowed, pinned)) = declaration.filters.get(column).zip(revision.pinned(column)) else {
            let columns: Vec<&str> = declaration.filters.keys().map(String::as_str).collect();
            let known = if columns.is_empty() {
                "none can be".to_owned()
            } else {
                format!("{} can be", columns.join(", "))
            };
            errors.push(FieldError { field, problem: format!("is no column to filter by; {known}") });
            continue;
        };
        let mut add = |field: String, problem: String| errors.push(FieldError { field, problem });
        check_operators(&field, conditions, allowed, &mut add);
        let mut check = |place: String, text: &str| {
            if let Err(problem) = check_value(pinned, text) {
                add(place, problem);
            }
        };
        if let Some(value) = &conditions.eq {
            check(format!("{field}.eq"), value);
        }
        for (index, value) in conditions.one_of.iter().flatten().enumerate() {
            check(format!("{field}.in[{index}]"), value);
        }
        for (bound, value) in conditions.range.iter().flat_map(|range| range.bounds()) {
            check(format!("{field}.range.{bound}"), value);
        }
    }
}
