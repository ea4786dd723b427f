//! What a request for a data set comes to, or everything that is wrong with it.

use waybill_domain::export::{ExportRequest, FieldError, Filters, FormatOptions, Spec};
use waybill_formats::Plan;

use crate::kind::{default_compression, kind_of_spec};
use crate::revision::Revision;
use crate::value::{check_operators, check_value};

/// Holds a request against the data set that it names, without any look at the database: the types were pinned.
///
/// # Errors
/// Every field that the data set does not allow, all of them at once.
pub fn resolve(request: &ExportRequest, revision: &Revision) -> Result<Spec, Vec<FieldError>> {
    let mut errors = Vec::new();
    let declaration = &revision.declaration;
    let defaults = declaration.defaults.formats.get(&request.format).copied().unwrap_or_default();
    let compression = request.compression.or(defaults.compression);
    let spec = Spec {
        dataset_revision: revision.revision,
        format: request.format,
        options: complete(request.options.or(defaults.options), request),
        compression: compression.unwrap_or(default_compression(request.format)),
        columns: columns(request, revision, &mut errors),
        filters: request.filters.clone(),
        order: order(request, revision, &mut errors),
    };
    filters(&request.filters, revision, &mut errors);
    if let Err(refused) =
        kind_of_spec(&spec).and_then(|kind| Plan::new(&revision.planned(&spec.columns), kind))
    {
        errors.extend(refused.problems().iter().filter_map(|problem| {
            let field = match &problem.column {
                Some(column) => format!("columns[{}]", spec.columns.iter().position(|name| name == column)?),
                None if spec.columns.is_empty() => return None,
                None => "format".to_owned(),
            };
            let named = problem.column.as_ref().map(|column| format!("is {column:?}: ")).unwrap_or_default();
            Some(FieldError { field, problem: format!("{named}{}; {}", problem.problem, problem.instead) })
        }));
    }
    if errors.is_empty() { Ok(spec) } else { Err(errors) }
}

/// An option of another format, which only a data set's default can be here, is none.
fn complete(options: FormatOptions, request: &ExportRequest) -> FormatOptions {
    let known = request.format.options();
    let keep = |name: &str| known.contains(&name);
    FormatOptions {
        delimiter: options.delimiter.filter(|_| keep("delimiter")),
        header: options.header.filter(|_| keep("header")),
        byte_order_mark: options.byte_order_mark.filter(|_| keep("byte_order_mark")),
        spreadsheet_safe: options.spreadsheet_safe.filter(|_| keep("spreadsheet_safe")),
        wide_numbers: options.wide_numbers.filter(|_| keep("wide_numbers")),
    }
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
