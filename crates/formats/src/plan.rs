//! What becomes of each column in a file: decided before any row is read, from types alone.

use std::collections::BTreeSet;

use crate::column::{Column, PgType};
use crate::encoder::Encoder;
use crate::error::{EncodeError, PlanError, Problem};
use crate::file_kind::{FileKind, Format};
use crate::ndjson_file::json_type;
use crate::parquet_file::ParquetType;
use crate::reading::{Reading, Shape, is_number};
use crate::statement;

/// How a file of some columns is made: what to select, and what each column is in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    kind: FileKind,
    columns: Vec<PlannedColumn>,
}

/// A column of a [`Plan`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedColumn {
    pub(crate) name: String,
    pub(crate) expression: String,
    pub(crate) shape: Shape,
    /// Whether a spreadsheet may take its values for numbers.
    pub(crate) is_number: bool,
    /// What it is in a Parquet file, of an element where it is a list; `None` in the other formats.
    pub(crate) parquet: Option<ParquetType>,
    /// What it is in the file, in words.
    pub(crate) file_type: String,
}

impl PlannedColumn {
    /// Its name in the file: that of the column.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the COPY selects for it.
    #[must_use]
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// What its values are in the file, in words: those of `docs/formats.md`.
    #[must_use]
    pub fn file_type(&self) -> &str {
        &self.file_type
    }
}

impl Plan {
    /// Decides for each column what it is in a file of this kind.
    ///
    /// # Errors
    /// Every column whose type the format cannot hold exactly, all of them at once.
    pub fn new(columns: &[Column], kind: FileKind) -> Result<Self, PlanError> {
        let mut problems = Vec::new();
        if columns.is_empty() {
            problems.push(Problem {
                column: None,
                problem: "a file needs columns, and none was chosen".to_owned(),
                instead: "choose one at least".to_owned(),
            });
        }
        let mut names = BTreeSet::new();
        let mut planned = Vec::with_capacity(columns.len());
        for column in columns {
            if !names.insert(&column.name) {
                problems.push(Problem {
                    column: Some(column.name.clone()),
                    problem: "two columns of this name would stand in one file".to_owned(),
                    instead: "give one of them another name in the data set's query".to_owned(),
                });
                continue;
            }
            match plan(column, kind.format()) {
                Ok(column) => planned.push(column),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(Self { kind, columns: planned }) } else { Err(PlanError::new(problems)) }
    }

    /// The kind of the file.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }

    /// The columns in their order.
    #[must_use]
    pub fn columns(&self) -> &[PlannedColumn] {
        &self.columns
    }

    /// The COPY that gives the rows for the file. `rest` is what follows the select list, from `FROM` on; in it the rows'
    /// source is called [`SOURCE_ALIAS`](crate::SOURCE_ALIAS), and `ORDER BY` names columns by it.
    #[must_use]
    pub fn copy_statement(&self, rest: &str) -> String {
        let expressions = self.columns.iter().map(PlannedColumn::expression);
        statement::copy(expressions, rest)
    }

    /// What makes the file of the rows of that COPY.
    ///
    /// # Errors
    /// When the library of the format or the compression refuses to begin.
    pub fn encoder(&self) -> Result<Encoder, EncodeError> {
        Encoder::new(self)
    }
}

fn plan(column: &Column, format: Format) -> Result<PlannedColumn, Problem> {
    let refused = |problem: String, instead: &str| Problem {
        column: Some(column.name.clone()),
        problem,
        instead: instead.to_owned(),
    };
    let pg_type = &column.pg_type;
    let reading = match format {
        Format::Csv(_) => Reading::to_write_as_postgres(pg_type, column.as_text),
        Format::Ndjson(_) | Format::Parquet(_) => Reading::of(pg_type, column.as_text),
    };
    let Some(reading) = reading else {
        let problem = format!("{} has no values that {} could hold", pg_type.name, format.name());
        return Err(refused(problem, "leave the column out, or cast it in the data set's query"));
    };
    let mut parquet = None;
    let file_type = match format {
        Format::Csv(_) => "text".to_owned(),
        Format::Ndjson(options) => json_type(reading.shape, options),
        Format::Parquet(_) => {
            let element = parquet_type(pg_type, reading.shape)
                .map_err(|Unfit { why, instead }| refused(format!("{} {why}", pg_type.name), instead))?;
            parquet = Some(element);
            match reading.shape {
                Shape::One(_) => element.to_string(),
                Shape::List(_) => format!("list of {element}"),
            }
        }
    };
    Ok(PlannedColumn {
        name: column.name.clone(),
        expression: statement::expression(&column.name, reading.selected),
        shape: reading.shape,
        is_number: is_number(pg_type),
        parquet,
        file_type,
    })
}

/// Why a type is none for Parquet.
#[derive(Debug)]
pub(crate) struct Unfit {
    pub(crate) why: &'static str,
    pub(crate) instead: &'static str,
}

fn parquet_type(pg_type: &PgType, shape: Shape) -> Result<ParquetType, Unfit> {
    let wire = match shape {
        Shape::One(wire) => wire,
        Shape::List(wire) => {
            if pg_type.array.and_then(|array| array.dimensions).is_some_and(|dimensions| dimensions > 1) {
                return Err(Unfit {
                    why: "is declared with more dimensions than a list of Parquet has, which is one",
                    instead: "ask for the column as text, or choose NDJSON or CSV",
                });
            }
            wire
        }
    };
    ParquetType::of(wire, pg_type.typmod)
}

#[cfg(test)]
mod tests;
