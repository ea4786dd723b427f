//! The columns of a data set's rows, as the database describes them now. Nothing is read, so no grant is needed.

use tokio_postgres::types::Oid;
use tokio_postgres::{Client, Error, Row};
use waybill_datasets::{Declaration, PinnedColumn, PinnedElement, select};
use waybill_formats::DESCRIBE_TYPES;

use crate::snapshot::LOCK_TIMEOUT_MS;

/// What a data set's rows are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Every column that the rows have, in order, also one that stands there twice.
    pub existing: Vec<String>,
    /// Those that the data set names, with their types.
    pub columns: Vec<PinnedColumn>,
}

impl Description {
    /// The column of that name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&PinnedColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The columns that the data set names and the rows do not have.
    #[must_use]
    pub fn missing<'a>(&self, declaration: &'a Declaration) -> Vec<&'a str> {
        let mut named = declaration.named_columns();
        named.retain(|name| !self.existing.iter().any(|column| column == name));
        named
    }
}

/// Describes the columns that a data set names.
///
/// # Errors
/// Postgres does not understand the query, or does not answer.
pub async fn describe(client: &Client, declaration: &Declaration) -> Result<Description, Error> {
    client.execute(include_str!("sql/patience.sql"), &[&LOCK_TIMEOUT_MS]).await?;
    let statement = client.prepare(&select(declaration)).await?;
    let existing: Vec<String> = statement.columns().iter().map(|column| column.name().to_owned()).collect();
    let named = declaration.named_columns();
    let mut chosen: Vec<&tokio_postgres::Column> = Vec::with_capacity(named.len());
    for name in &named {
        chosen.extend(statement.columns().iter().find(|column| column.name() == *name));
    }
    let oids: Vec<Oid> = chosen.iter().map(|column| column.type_().oid()).collect();
    let typmods: Vec<i32> = chosen.iter().map(|column| column.type_modifier()).collect();
    let described = client.query(DESCRIBE_TYPES, &[&oids, &typmods]).await?;
    let resolved = described.iter().map(|row| row.try_get("oid")).collect::<Result<Vec<Oid>, _>>()?;
    let names = client.query(include_str!("sql/cast_names.sql"), &[&resolved]).await?;
    let columns = chosen.iter().zip(described.iter().zip(&names));
    let columns = columns.map(|(column, (described, names))| pinned(column.name(), described, names));
    Ok(Description { existing, columns: columns.collect::<Result<_, _>>()? })
}

fn pinned(name: &str, described: &Row, names: &Row) -> Result<PinnedColumn, Error> {
    let kind = |letter: i8| char::from(letter.cast_unsigned());
    let element: Option<Oid> = described.try_get("element_oid")?;
    let element = match element {
        Some(oid) => Some(PinnedElement {
            oid,
            kind: kind(described.try_get("element_typtype")?),
            dimensions: described
                .try_get::<_, Option<i32>>("dimensions")?
                .and_then(|count| count.try_into().ok()),
        }),
        None => None,
    };
    Ok(PinnedColumn {
        name: name.to_owned(),
        type_name: described.try_get("name")?,
        cast_name: names.try_get("cast_name")?,
        oid: described.try_get("oid")?,
        kind: kind(described.try_get("typtype")?),
        typmod: described.try_get("typmod")?,
        element,
        labels: names.try_get("labels")?,
    })
}
