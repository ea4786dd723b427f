//! The statements that read an export's rows.
//!
//! COPY takes no binds. So each value is put into a setting of the transaction, by a statement that does take binds, and
//! the statements here read it back with `current_setting` and cast it: their text holds names, which are quoted, and
//! types, which came from the catalog, and nothing that a caller wrote. A cast never has a modifier: `char(3)` would
//! cut a value, and then match what the caller did not ask for.

use serde_json::{Value, json};
use waybill_domain::export::{Conditions, Spec};
use waybill_domain::ids::TenantId;
use waybill_formats::{Plan, SOURCE_ALIAS};

use crate::declaration::{Declaration, Owner, Rows};
use crate::pinned::PinnedColumn;
use crate::quoting::quoted;
use crate::revision::Revision;

/// The setting that holds the tenant's id. A data set's own query may read it, too.
pub const TENANT_SETTING: &str = "waybill.tenant_id";

/// What the settings of filters' values begin with; their number follows.
const VALUE_SETTING: &str = "waybill.value_";

/// A setting of the reading transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value: a JSON string, or an array of strings, which Postgres itself then writes as an array of text.
    pub value: Value,
}

/// How an export's rows are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What must be set before anything else is asked.
    pub settings: Vec<Setting>,
    /// What follows a select list, from FROM on.
    rest: String,
}

impl Reading {
    /// How the rows of a spec are read for a tenant. The columns are as the database describes them now.
    #[must_use]
    pub fn new(revision: &Revision, spec: &Spec, tenant_id: &TenantId, columns: &[PinnedColumn]) -> Self {
        let declaration = &revision.declaration;
        let mut conditions = Where { settings: Vec::new(), conditions: Vec::new(), values: 0 };
        let described = |name: &str| columns.iter().find(|column| column.name == name);
        conditions.set(TENANT_SETTING.to_owned(), json!(tenant_id.as_str()));
        match &declaration.owner {
            Owner::TenantColumn(name) => match described(name) {
                Some(column) => conditions.tenant(column),
                None => conditions.nothing(),
            },
            Owner::SharedBecause(_) => {}
        }
        for (name, wanted) in &spec.filters {
            match described(name) {
                Some(column) => conditions.of(column, wanted),
                None => conditions.nothing(),
            }
        }
        let mut rest = from(declaration);
        if !conditions.conditions.is_empty() {
            rest.push_str(" WHERE ");
            rest.push_str(&conditions.conditions.join(" AND "));
        }
        let order = spec.order.as_ref().and_then(|name| declaration.orders.get(name));
        for (n, key) in order.into_iter().flatten().enumerate() {
            rest.push_str(if n == 0 { " ORDER BY " } else { ", " });
            rest.push_str(&named(&key.column));
            rest.push_str(if key.descending { " DESC" } else { "" });
        }
        Self { settings: conditions.settings, rest }
    }

    /// The COPY for a file of that plan.
    #[must_use]
    pub fn copy(&self, plan: &Plan) -> String {
        plan.copy_statement(&self.rest)
    }

    /// What the planner thinks of the same rows, as JSON.
    #[must_use]
    pub fn explain(&self) -> String {
        format!("EXPLAIN (FORMAT JSON) SELECT 1 {}", self.rest)
    }
}

/// A SELECT of everything that a data set's rows have, to be described and not to be run.
#[must_use]
pub fn select(declaration: &Declaration) -> String {
    format!("SELECT {SOURCE_ALIAS}.* {}", from(declaration))
}

/// A query stands on lines of its own, so that a comment at its end ends there.
fn from(declaration: &Declaration) -> String {
    match &declaration.rows {
        Rows::Table { schema, name } => format!("FROM {}.{} AS {SOURCE_ALIAS}", quoted(schema), quoted(name)),
        Rows::Query(query) => format!("FROM (\n{query}\n) AS {SOURCE_ALIAS}"),
    }
}

fn named(column: &str) -> String {
    format!("{SOURCE_ALIAS}.{}", quoted(column))
}

struct Where {
    settings: Vec<Setting>,
    conditions: Vec<String>,
    values: usize,
}

impl Where {
    fn set(&mut self, name: String, value: Value) {
        self.settings.push(Setting { name, value });
    }

    /// A column that is gone lets no row through, whoever forgot to look.
    fn nothing(&mut self) {
        self.conditions.push("false".to_owned());
    }

    fn tenant(&mut self, column: &PinnedColumn) {
        let value = format!("pg_catalog.current_setting('{TENANT_SETTING}')::{}", column.cast_name);
        self.conditions.push(format!("{} = {value}", named(&column.name)));
    }

    /// A new setting with this value, read back as this type.
    fn value(&mut self, value: Value, type_name: &str) -> String {
        let name = format!("{VALUE_SETTING}{}", self.values);
        self.values += 1;
        let read = format!("pg_catalog.current_setting('{name}')::{type_name}");
        self.set(name, value);
        read
    }

    fn of(&mut self, column: &PinnedColumn, wanted: &Conditions) {
        let name = named(&column.name);
        let mut compare = |sign: &str, value: &String| {
            let value = self.value(json!(value), &column.cast_name);
            self.conditions.push(format!("{name} {sign} {value}"));
        };
        if let Some(value) = &wanted.eq {
            compare("=", value);
        }
        if let Some(range) = &wanted.range {
            let bounds = [(">=", &range.gte), (">", &range.gt), ("<=", &range.lte), ("<", &range.lt)];
            for (sign, value) in bounds {
                if let Some(value) = value {
                    compare(sign, value);
                }
            }
        }
        if let Some(values) = &wanted.one_of {
            let values = self.value(json!(values), &format!("{}[]", column.cast_name));
            self.conditions.push(format!("{name} = ANY ({values})"));
        }
        if let Some(value) = &wanted.prefix {
            let value = self.value(json!(value), "pg_catalog.text");
            self.conditions.push(format!("pg_catalog.starts_with({name}::pg_catalog.text, {value})"));
        }
        if let Some(is_null) = wanted.is_null {
            // Of a row type `IS NULL` would take a row of nothing but NULLs for NULL; of others only it uses an index.
            let condition = match (column.kind == 'c', is_null) {
                (false, true) => "IS NULL",
                (false, false) => "IS NOT NULL",
                (true, true) => "IS NOT DISTINCT FROM NULL",
                (true, false) => "IS DISTINCT FROM NULL",
            };
            self.conditions.push(format!("{name} {condition}"));
        }
    }
}
