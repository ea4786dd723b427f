//! How Postgres would run a statement.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

/// A plan, made with knowledge of the parameters' values: like every statement of ours, which is parsed and bound for one
/// execution.
#[derive(Debug)]
pub struct Plan {
    tree: Value,
    /// Every node's type: `Index Scan`, `Seq Scan`, …
    pub nodes: BTreeSet<String>,
    /// Every index that is read.
    pub indexes: BTreeSet<String>,
    /// Every table that is read from its beginning to its end.
    pub scanned: BTreeSet<String>,
}

impl Plan {
    /// The plan of `statement` with these parameters.
    ///
    /// # Panics
    /// When Postgres refuses the statement.
    pub async fn of(db: &Client, statement: &str, parameters: &[(&(dyn ToSql + Sync), Type)]) -> Self {
        let explain = format!("EXPLAIN (FORMAT JSON, COSTS OFF)\n{statement}");
        let rows = db.query_typed(&explain, parameters).await;
        let rows = rows.unwrap_or_else(|error| panic!("{statement}\n{error:?}"));
        let mut plan = Self {
            tree: rows[0].get(0),
            nodes: BTreeSet::new(),
            indexes: BTreeSet::new(),
            scanned: BTreeSet::new(),
        };
        plan.note(&plan.tree[0]["Plan"].clone());
        plan
    }

    /// Panics unless the plan reads these indexes and, from beginning to end, no table but `may_be_scanned`.
    ///
    /// # Panics
    /// As said.
    pub fn must_use(&self, indexes: &[&str], may_be_scanned: &[&str]) {
        for index in indexes {
            assert!(self.indexes.contains(*index), "{index} is not read by\n{self}");
        }
        let scanned = self.scanned.iter().find(|table| !may_be_scanned.contains(&table.as_str()));
        assert!(scanned.is_none(), "{} is scanned by\n{self}", scanned.map_or("", |table| table));
    }

    fn note(&mut self, node: &Value) {
        let text = |member: &str| node[member].as_str().map(str::to_owned);
        self.nodes.extend(text("Node Type"));
        self.indexes.extend(text("Index Name"));
        if node["Node Type"] == "Seq Scan" {
            self.scanned.extend(text("Relation Name"));
        }
        for child in node["Plans"].as_array().into_iter().flatten() {
            self.note(child);
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.tree)
    }
}
