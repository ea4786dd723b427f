//! A data set's file: TOML. Everything that is wrong with one is said at once, with its line, its key and what would be
//! right.

mod columns;
mod defaults;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use toml::de::DeTable;
use waybill_domain::export::{Operator, is_dataset_name};
use waybill_domain::span;

use crate::declaration::{Declaration, LENGTH_MAX_SECONDS, OrderKey, Owner, Rows};
use reader::{Found, Keys, Reader};

/// The longest file, in bytes: it travels in a request.
pub const FILE_BYTES_MAX: usize = 32 * 1024;

/// The longest text for people, in characters.
const TEXT_CHARS_MAX: usize = 1_000;

/// The most orders of a data set, and the most columns of one.
const ORDERS_MAX: usize = 16;
const ORDER_COLUMNS_MAX: usize = 16;

/// How long a snapshot may be held when the file does not say.
const SNAPSHOT_AGE_DEFAULT_SECONDS: i64 = 60 * 60;

const KEYS: [&str; 13] = [
    "name",
    "description",
    "source",
    "table",
    "query",
    "tenant_column",
    "shared_because",
    "max_snapshot_age",
    "statement_timeout",
    "columns",
    "filters",
    "orders",
    "defaults",
];

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// The line, from 1.
    pub line: usize,
    /// The key, as a path such as `columns[3].as`; empty for the whole file.
    pub key: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.line)?;
        if !self.key.is_empty() {
            write!(f, "{} ", self.key)?;
        }
        f.write_str(&self.problem)
    }
}

/// Reads a file.
///
/// # Errors
/// Everything that is wrong with it, in the order of its lines.
pub fn parse(text: &str) -> Result<Declaration, Vec<FileProblem>> {
    let whole = |problem: String| vec![FileProblem { line: 1, key: String::new(), problem }];
    if text.len() > FILE_BYTES_MAX {
        return Err(whole(format!("the file has {} bytes, and {FILE_BYTES_MAX} is the most", text.len())));
    }
    let document = DeTable::parse(text).map_err(|error| {
        let line = reader::line_of(text, error.span().map_or(0, |span| span.start));
        vec![FileProblem {
            line,
            key: String::new(),
            problem: format!("is no TOML: {}", error.message().trim()),
        }]
    })?;
    let mut reader = Reader::new(text);
    let declaration = declaration(&mut reader, &Keys::root(document.get_ref()));
    match reader.problems() {
        problems if problems.is_empty() => declaration.ok_or_else(|| whole("says too little".to_owned())),
        problems => Err(problems),
    }
}

fn declaration(reader: &mut Reader<'_>, root: &Keys<'_, '_>) -> Option<Declaration> {
    reader.known(root, &KEYS);
    let dataset = reader.required(root, "name", "the name that callers ask for");
    let dataset = dataset.filter(|name| {
        reader.checked(name, is_dataset_name, "must be 1 to 63 of a-z 0-9 _ -, beginning with a letter")
    });
    let source = reader.required(root, "source", "the name of a [sources.<name>] of the configuration");
    let description = description(reader, root);
    let rows = rows(reader, root);
    let owner = owner(reader, root);
    let columns = columns::columns(reader, root);
    let filters = filters(reader, root);
    let orders = orders(reader, root);
    let defaults = defaults::defaults(reader, root, &orders);
    let snapshot_age = length(reader, root, "max_snapshot_age").unwrap_or(SNAPSHOT_AGE_DEFAULT_SECONDS);
    let statement_timeout = length(reader, root, "statement_timeout").unwrap_or(snapshot_age);
    Some(Declaration {
        dataset: dataset?.value,
        description,
        source: source?.value,
        rows: rows?,
        owner: owner?,
        columns,
        filters,
        orders,
        max_snapshot_age_seconds: snapshot_age,
        statement_timeout_seconds: statement_timeout,
        defaults,
    })
}

fn description(reader: &mut Reader<'_>, keys: &Keys<'_, '_>) -> Option<String> {
    let found = reader.text(keys, "description")?;
    let fits = |text: &str| !text.trim().is_empty() && text.chars().count() <= TEXT_CHARS_MAX;
    let problem = format!("must be 1 to {TEXT_CHARS_MAX} characters");
    reader.checked(&found, fits, &problem).then_some(found.value)
}

fn rows(reader: &mut Reader<'_>, root: &Keys<'_, '_>) -> Option<Rows> {
    match (reader.text(root, "table"), reader.text(root, "query")) {
        (Some(table), None) => {
            let parts =
                table.value.split_once('.').filter(|(schema, name)| !schema.is_empty() && !name.is_empty());
            let Some((schema, name)) = parts else {
                reader.add(&table, "must be a table or a view with its schema, such as \"shop.orders\"");
                return None;
            };
            Some(Rows::Table { schema: schema.to_owned(), name: name.to_owned() })
        }
        (None, Some(query)) => {
            let text = query.value.trim();
            let fits = |text: &str| !text.trim().is_empty() && !text.trim_end().ends_with(';');
            reader
                .checked(&query, fits, "must be one SELECT, without a semicolon at its end")
                .then(|| Rows::Query(text.to_owned()))
        }
        (Some(_), Some(query)) => {
            reader.add(&query, "stands beside table; keep one of them");
            None
        }
        (None, None) => {
            reader.add_missing(root, "table", "or query is required: where the rows are");
            None
        }
    }
}

fn owner(reader: &mut Reader<'_>, root: &Keys<'_, '_>) -> Option<Owner> {
    match (reader.text(root, "tenant_column"), reader.text(root, "shared_because")) {
        (Some(column), None) => {
            columns::is_column(reader, &column).then_some(Owner::TenantColumn(column.value))
        }
        (None, Some(reason)) => {
            let fits = |text: &str| !text.trim().is_empty() && text.chars().count() <= TEXT_CHARS_MAX;
            reader
                .checked(&reason, fits, "must say why every tenant may have all rows")
                .then_some(Owner::SharedBecause(reason.value))
        }
        (Some(_), Some(reason)) => {
            reader.add(&reason, "stands beside tenant_column; keep one of them");
            None
        }
        (None, None) => {
            reader.add_missing(
                root,
                "tenant_column",
                "is required: the column that says whose a row is; for rows that every tenant may have, say why in shared_because",
            );
            None
        }
    }
}

fn length(reader: &mut Reader<'_>, root: &Keys<'_, '_>, key: &str) -> Option<i64> {
    let found = reader.text(root, key)?;
    let seconds = span::parse(&found.value).map(|length| length.as_secs());
    let seconds = seconds.filter(|seconds| (1..=LENGTH_MAX_SECONDS).contains(seconds));
    if seconds.is_none() {
        let most = span::write(jiff::SignedDuration::from_secs(LENGTH_MAX_SECONDS));
        reader.add(&found, &format!("must be a length of time from \"1s\" to \"{most}\", such as \"30m\""));
    }
    seconds
}

fn filters(reader: &mut Reader<'_>, root: &Keys<'_, '_>) -> BTreeMap<String, Vec<Operator>> {
    let known: Vec<_> = Operator::ALL.iter().map(|operator| format!("\"{}\"", operator.as_str())).collect();
    let problem = format!("must be an array of {}", known.join(", "));
    let mut filters = BTreeMap::new();
    for (column, value) in reader.tables(root, "filters") {
        let column = Found { value: column, ..value.named() };
        let mut operators = Vec::new();
        for item in reader.texts(&value, &problem) {
            match Operator::parse(&item.value) {
                Some(operator) if operators.contains(&operator) => reader.add(&item, "stands there twice"),
                Some(operator) => operators.push(operator),
                None => reader.add(&item, &problem),
            }
        }
        if columns::is_column(reader, &column) {
            filters.insert(column.value, operators);
        }
    }
    filters
}

fn orders(reader: &mut Reader<'_>, root: &Keys<'_, '_>) -> BTreeMap<String, Vec<OrderKey>> {
    let problem = format!(
        "must be an array of 1 to {ORDER_COLUMNS_MAX} columns, such as [\"paid_at desc\", \"order_id\"]"
    );
    let mut orders = BTreeMap::new();
    for (name, value) in reader.tables(root, "orders") {
        let named = Found { value: name, ..value.named() };
        reader.checked(
            &named,
            is_dataset_name,
            "can be no order's name: 1 to 63 of a-z 0-9 _ -, beginning with a letter",
        );
        if orders.len() == ORDERS_MAX {
            reader.add(&named, &format!("is one too many: {ORDERS_MAX} orders are the most"));
        }
        let mut keys: Vec<OrderKey> = Vec::new();
        let items = reader.texts(&value, &problem);
        if items.len() > ORDER_COLUMNS_MAX {
            reader.add(&named, &problem);
        }
        for item in items {
            let (column, descending) = match item.value.rsplit_once(' ') {
                Some((column, "desc")) => (column.to_owned(), true),
                Some((column, "asc")) => (column.to_owned(), false),
                _ => (item.value.clone(), false),
            };
            if keys.iter().any(|key| key.column == column) {
                reader.add(&item, "names a column for the second time");
            }
            keys.push(OrderKey { column, descending });
        }
        orders.insert(named.value, keys);
    }
    orders
}
