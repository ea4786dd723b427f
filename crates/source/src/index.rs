//! Whether what a request may ask for has an index behind it, as the planner says.

use serde_json::Value;
use tokio_postgres::{Client, Error};
use waybill_datasets::{PinnedColumn, Reading, Revision};
use waybill_domain::export::{Compression, Filters, Format, FormatOptions, Operator, Spec};
use waybill_domain::ids::TenantId;

use crate::sample;
use crate::snapshot::{Limits, Snapshot};

/// The planner of a check is not asked for longer.
const EXPLAIN_TIMEOUT_MS: i64 = 10_000;

/// Asks the planner about a data set that nothing else is wrong with.
pub(crate) struct Planner<'a> {
    client: &'a Client,
    revision: &'a Revision,
}

impl<'a> Planner<'a> {
    pub(crate) const fn new(client: &'a Client, revision: &'a Revision) -> Self {
        Self { client, revision }
    }

    /// Whether the rows can be read at all, as whoever is logged in.
    pub(crate) async fn reads(&self) -> Result<(), Error> {
        self.plan(self.spec(None, Filters::new())).await.map(drop)
    }

    /// Whether rows come in this order without a sort.
    pub(crate) async fn order_has_index(&self, order: &str) -> Result<bool, Error> {
        let plan = self.plan(self.spec(Some(order.to_owned()), Filters::new())).await?;
        Ok(!any(&plan, &|node| node["Node Type"].as_str().is_some_and(|kind| kind.ends_with("Sort"))))
    }

    /// Whether rows with such a value are found by an index. `None` where there is nothing to ask the planner.
    pub(crate) async fn filter_has_index(
        &self,
        column: &PinnedColumn,
        operator: Operator,
    ) -> Result<Option<bool>, Error> {
        let Some(conditions) = sample::condition(column, operator) else { return Ok(None) };
        let plan = self.plan(self.spec(None, Filters::from([(column.name.clone(), conditions)]))).await?;
        let sought = if operator == Operator::IsNull { " IS NULL" } else { "waybill.value_0" };
        Ok(Some(any(&plan, &|node| node["Index Cond"].as_str().is_some_and(|text| text.contains(sought)))))
    }

    async fn plan(&self, spec: Spec) -> Result<Value, Error> {
        let nobody = TenantId::from_uuid(uuid::Uuid::nil());
        let reading = Reading::new(self.revision, &spec, &nobody, &self.revision.columns);
        let limits = Limits { statement_timeout_ms: EXPLAIN_TIMEOUT_MS };
        let planned = async {
            let snapshot = Snapshot::open(self.client, &reading, limits).await?;
            self.client.execute(include_str!("sql/avoid.sql"), &[]).await?;
            let plan = self.client.query_one(&reading.explain(), &[]).await?.try_get(0)?;
            snapshot.end().await?;
            Ok(plan)
        };
        let planned = planned.await;
        if planned.is_err() {
            // What failed is the answer; the transaction only has to be over before the next question.
            let _failed = self.client.batch_execute("ROLLBACK").await;
        }
        planned
    }

    fn spec(&self, order: Option<String>, filters: Filters) -> Spec {
        Spec {
            dataset_revision: self.revision.revision,
            format: Format::Csv,
            options: FormatOptions::default(),
            compression: Compression::None,
            columns: Vec::new(),
            filters,
            order,
        }
    }
}

fn any(plan: &Value, is_sought: &impl Fn(&Value) -> bool) -> bool {
    match plan {
        Value::Array(items) => items.iter().any(|item| any(item, is_sought)),
        Value::Object(members) => is_sought(plan) || members.values().any(|member| any(member, is_sought)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
