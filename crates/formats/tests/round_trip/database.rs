//! The table that has it all, and what Postgres says of it.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use tokio_postgres::Client;
use tokio_postgres::types::Oid;
use waybill_formats::{
    ArrayOf, Column, DESCRIBE_TYPES, PgType, Plan, SESSION_SETTINGS, SOURCE_ALIAS, TypeKind,
};
use waybill_testkit::TestDatabase;

use crate::samples::{self, Sample};

/// A database with the table `awkward`: a column a sample, and a row for as many values as the longest sample has.
pub(crate) struct Awkward {
    _database: TestDatabase,
    pub(crate) client: Client,
    pub(crate) samples: Vec<Sample>,
}

impl Awkward {
    pub(crate) async fn made() -> Self {
        let database = TestDatabase::empty().await;
        let client = database.admin().await;
        for definition in samples::DEFINITIONS {
            run(&client, definition).await;
        }
        for (name, value) in SESSION_SETTINGS {
            client.execute("SELECT set_config($1, $2, false)", &[&name, &value]).await.expect("a setting");
        }
        let samples = samples::all();
        let columns: Vec<String> =
            samples.iter().map(|sample| format!("{} {}", sample.name, sample.pg_type)).collect();
        run(&client, &format!("CREATE TABLE awkward (id integer PRIMARY KEY, {})", columns.join(", "))).await;
        let rows = samples.iter().map(|sample| sample.values.len()).max().expect("samples");
        // The last row has nothing but NULL.
        run(&client, &format!("INSERT INTO awkward SELECT generate_series(0, {rows})")).await;
        for Sample { name, pg_type, values, .. } in &samples {
            let fill = format!(
                "UPDATE awkward SET {name} = given.value::{pg_type}
                 FROM unnest($1::text[]) WITH ORDINALITY AS given (value, row) WHERE id = given.row - 1"
            );
            let filled = client.execute(&fill, &[values]).await;
            filled.unwrap_or_else(|error| panic!("{name} {pg_type}: {error:?}"));
        }
        Self { _database: database, client, samples }
    }

    /// The table's column `id` and the samples that pass.
    pub(crate) async fn columns(&self, pass: impl Fn(&Sample) -> bool) -> Vec<Column> {
        let names: Vec<&str> =
            self.samples.iter().filter(|sample| pass(sample)).map(|sample| sample.name).collect();
        describe(&self.client, &format!("SELECT id, {} FROM awkward", names.join(", "))).await
    }

    /// What the COPY of the plan gives, message by message.
    pub(crate) async fn copied(&self, plan: &Plan) -> Vec<Bytes> {
        copied(
            &self.client,
            &plan.copy_statement(&format!("FROM awkward AS {SOURCE_ALIAS} ORDER BY {SOURCE_ALIAS}.id")),
        )
        .await
    }

    /// What Postgres' output function writes for each value of a column, by the row's id.
    pub(crate) async fn texts(&self, column: &str) -> BTreeMap<i32, Option<String>> {
        let query = format!(
            "SELECT id, CASE WHEN {column} IS DISTINCT FROM NULL THEN format('%s', {column}) END FROM awkward"
        );
        let rows = self.client.query(&query, &[]).await.unwrap_or_else(|error| panic!("{query}: {error:?}"));
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    /// The ids of the rows whose value is another one once Postgres has read the text that a reader gave for it.
    pub(crate) async fn differing(
        &self,
        sample: &Sample,
        read: &[(i32, Option<String>)],
    ) -> Vec<(i32, Option<String>, Option<String>)> {
        let (pg_type, expected) = sample.judged_as.unwrap_or((sample.pg_type, "{c}"));
        let expected = expected.replace("{c}", &format!("awkward.{}", sample.name));
        let query = format!(
            "SELECT id, left(expected, 200), left(found, 200)
             FROM (
                 SELECT awkward.id AS id,
                     CASE WHEN {expected} IS DISTINCT FROM NULL THEN format('%s', {expected}) END AS expected,
                     CASE WHEN read.value IS NOT NULL THEN format('%s', read.value::{pg_type}) END AS found
                 FROM awkward LEFT JOIN unnest($1::integer[], $2::text[]) AS read (id, value) USING (id)
             ) AS pairs
             WHERE expected IS DISTINCT FROM found"
        );
        let (ids, values): (Vec<i32>, Vec<Option<&str>>) =
            read.iter().map(|(id, value)| (*id, value.as_deref())).unzip();
        let rows = self.client.query(&query, &[&ids, &values]).await;
        let rows = rows.unwrap_or_else(|error| panic!("{}: {error:?}\n{values:?}", sample.name));
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
    }
}

/// The columns of a query, as the catalog describes them.
pub(crate) async fn describe(client: &Client, query: &str) -> Vec<Column> {
    let statement = client.prepare(query).await.unwrap_or_else(|error| panic!("{query}: {error:?}"));
    let oids: Vec<Oid> = statement.columns().iter().map(|column| column.type_().oid()).collect();
    let typmods: Vec<i32> = statement.columns().iter().map(tokio_postgres::Column::type_modifier).collect();
    let described = client.query(DESCRIBE_TYPES, &[&oids, &typmods]).await.expect("the types");
    let kind = |letter: i8| TypeKind::from_typtype(letter.cast_unsigned()).expect("no domain is left");
    let types = described.iter().map(|row| PgType {
        oid: row.get("oid"),
        name: row.get("name"),
        kind: kind(row.get("typtype")),
        typmod: row.get("typmod"),
        array: row.get::<_, Option<Oid>>("element_oid").map(|oid| ArrayOf {
            oid,
            kind: kind(row.get("element_typtype")),
            dimensions: row.get::<_, Option<i32>>("dimensions").and_then(|count| count.try_into().ok()),
        }),
    });
    let names = statement.columns().iter().map(|column| column.name().to_owned());
    names.zip(types).map(|(name, pg_type)| Column { name, pg_type, as_text: false }).collect()
}

/// What a COPY gives, message by message.
pub(crate) async fn copied(client: &Client, statement: &str) -> Vec<Bytes> {
    let stream = client.copy_out(statement).await.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    stream.try_collect().await.unwrap_or_else(|error| panic!("{statement}: {error:?}"))
}

async fn run(client: &Client, statement: &str) {
    if let Err(error) = client.batch_execute(statement).await {
        let shown: String = statement.chars().take(2_000).collect();
        panic!("{shown}: {error:?}");
    }
}
