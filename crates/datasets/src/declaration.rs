//! A data set as its file declares it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use waybill_domain::export::{Compression, Format, FormatOptions, Operator};

/// The longest that a snapshot may be held and a statement may run: as long as an attempt may take.
pub const LENGTH_MAX_SECONDS: i64 = 12 * 60 * 60;

/// A data set: where its rows are, whose they are, and what may be asked of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// Its name, as callers ask for it.
    pub dataset: String,
    /// What it is, for callers.
    pub description: Option<String>,
    /// The name of the database, `[sources.<name>]` of the configuration.
    pub source: String,
    /// Its rows.
    pub rows: Rows,
    /// Whose a row is.
    pub owner: Owner,
    /// The columns that may be exported, in the order of a file that names none.
    pub columns: Vec<DeclaredColumn>,
    /// What each column may be filtered with.
    pub filters: BTreeMap<String, Vec<Operator>>,
    /// The orders that may be asked for, by name.
    pub orders: BTreeMap<String, Vec<OrderKey>>,
    /// How old the snapshot of an export may grow.
    pub max_snapshot_age_seconds: i64,
    /// How long the statement of an export may run.
    pub statement_timeout_seconds: i64,
    /// What a request need not say.
    pub defaults: Defaults,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rows {
    /// A table or a view.
    Table {
        /// Its schema.
        schema: String,
        /// Its name.
        name: String,
    },
    /// One SELECT.
    Query(String),
}

/// Whose a row is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// The tenant whose id stands in this column. A tenant gets its own rows and no others.
    TenantColumn(String),
    /// Nobody's: every tenant gets all rows. Somebody must have said why.
    SharedBecause(String),
}

impl Owner {
    /// The column, where there is one.
    #[must_use]
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::TenantColumn(column) => Some(column),
            Self::SharedBecause(_) => None,
        }
    }
}

/// A column that may be exported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredColumn {
    /// Its name in the rows, which is its name in the file.
    pub name: String,
    /// What it is, for callers.
    pub description: Option<String>,
    /// Whether its values are exported as Postgres' own text of them, whatever the format could hold.
    pub as_text: bool,
}

/// One column of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderKey {
    /// The column.
    pub column: String,
    /// Whether the greatest comes first.
    pub descending: bool,
}

/// What a request need not say.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Defaults {
    /// The name of the order; none means that rows come as they come.
    pub order: Option<String>,
    /// What files of a format are like.
    pub formats: BTreeMap<Format, FormatDefaults>,
}

/// What files of one format are like unless a request says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FormatDefaults {
    /// Their compression.
    pub compression: Option<Compression>,
    /// Their options.
    pub options: FormatOptions,
}

impl Declaration {
    /// Every column that the data set names, once each: those that are exported first, in their order.
    #[must_use]
    pub fn named_columns(&self) -> Vec<&str> {
        let exported = self.columns.iter().map(|column| column.name.as_str());
        let ordered = self.orders.values().flatten().map(|key| key.column.as_str());
        let all =
            exported.chain(self.owner.column()).chain(self.filters.keys().map(String::as_str)).chain(ordered);
        let mut named: Vec<&str> = Vec::new();
        for column in all {
            if !named.contains(&column) {
                named.push(column);
            }
        }
        named
    }
}
