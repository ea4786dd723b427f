//! The values of one column that wait for a batch's end, with the levels that say what is NULL and where a list begins.

use super::cell::Cells;
use super::column_type::ParquetType;
use crate::plan::PlannedColumn;
use crate::reading::{Shape, Wire};
use crate::value::Fault;
use crate::value::array::Array;

/// Levels of a list that is NULL, that is empty, of an element that is NULL, and of one that is not.
mod level {
    pub(super) const NULL: i16 = 0;
    pub(super) const VALUE: i16 = 1;
    pub(super) const EMPTY_LIST: i16 = 1;
    pub(super) const NULL_ELEMENT: i16 = 2;
    pub(super) const ELEMENT: i16 = 3;
    pub(super) const FIRST: i16 = 0;
    pub(super) const FURTHER: i16 = 1;
}

/// What of a column waits.
#[derive(Debug)]
pub(super) struct ColumnBuffer {
    name: String,
    shape: Shape,
    parquet_type: ParquetType,
    pub(super) cells: Cells,
    pub(super) definition: Vec<i16>,
    /// `None` where nothing can repeat.
    pub(super) repetition: Option<Vec<i16>>,
}

impl ColumnBuffer {
    pub(super) fn new(column: &PlannedColumn) -> Option<Self> {
        let parquet_type = column.parquet?;
        Some(Self {
            name: column.name.clone(),
            shape: column.shape,
            parquet_type,
            cells: Cells::new(parquet_type),
            definition: Vec::new(),
            repetition: matches!(column.shape, Shape::List(_)).then(Vec::new),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Appends a value.
    pub(super) fn push(&mut self, value: Option<&[u8]>) -> Result<(), Fault> {
        match (self.shape, value) {
            (_, None) => self.level(level::NULL, level::FIRST),
            (Shape::One(wire), Some(value)) => {
                self.definition.push(level::VALUE);
                self.cells.push(value, wire, self.parquet_type)?;
            }
            (Shape::List(wire), Some(value)) => self.push_list(value, wire)?,
        }
        Ok(())
    }

    fn push_list(&mut self, value: &[u8], wire: Wire) -> Result<(), Fault> {
        let mut array = Array::read(value)?;
        let length = match *array.lengths() {
            [] => {
                self.level(level::EMPTY_LIST, level::FIRST);
                return array.end();
            }
            [length] => length,
            _ => {
                return Err(Fault::Unfit(
                    "an array has more dimensions than a list of Parquet, which has one",
                ));
            }
        };
        for at in 0..length {
            let repetition = if at == 0 { level::FIRST } else { level::FURTHER };
            match array.element()? {
                None => self.level(level::NULL_ELEMENT, repetition),
                Some(element) => {
                    self.level(level::ELEMENT, repetition);
                    self.cells.push(element, wire, self.parquet_type)?;
                }
            }
        }
        array.end()
    }

    fn level(&mut self, definition: i16, repetition: i16) {
        self.definition.push(definition);
        if let Some(levels) = &mut self.repetition {
            levels.push(repetition);
        }
    }
}
