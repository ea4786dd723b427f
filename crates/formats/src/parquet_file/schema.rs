//! The schema of a Parquet file: each column optional, a list in the three levels that the format prescribes.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{Type, TypePtr};

use super::column_type::{Decimal, ParquetType};
use crate::plan::PlannedColumn;
use crate::reading::Shape;

/// The schema of these columns.
pub(super) fn of(columns: &[PlannedColumn]) -> Result<TypePtr> {
    let fields = columns.iter().filter_map(|column| {
        let parquet_type = column.parquet?;
        Some(match column.shape {
            Shape::One(_) => leaf(&column.name, parquet_type),
            Shape::List(_) => list(&column.name, parquet_type),
        })
    });
    let fields = fields.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?))
}

fn leaf(name: &str, parquet_type: ParquetType) -> Result<TypePtr> {
    let (physical, logical) = types(parquet_type);
    let mut builder = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical);
    if let ParquetType::Decimal(decimal) = parquet_type {
        builder = builder.with_precision(i32::from(decimal.precision)).with_scale(i32::from(decimal.scale));
        if physical == Physical::FIXED_LEN_BYTE_ARRAY {
            builder = builder.with_length(i32::try_from(decimal.bytes()).unwrap_or(i32::MAX));
        }
    } else if parquet_type == ParquetType::Uuid {
        builder = builder.with_length(16);
    }
    Ok(Arc::new(builder.build()?))
}

/// Parquet's LogicalTypes, "Lists".
fn list(name: &str, element: ParquetType) -> Result<TypePtr> {
    let elements = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![leaf("element", element)?])
        .build()?;
    let list = Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(elements)])
        .build()?;
    Ok(Arc::new(list))
}

fn types(parquet_type: ParquetType) -> (Physical, Option<LogicalType>) {
    match parquet_type {
        ParquetType::Boolean => (Physical::BOOLEAN, None),
        ParquetType::Int16 => (Physical::INT32, Some(LogicalType::integer(16, true))),
        ParquetType::Int32 => (Physical::INT32, Some(LogicalType::integer(32, true))),
        ParquetType::Int64 => (Physical::INT64, Some(LogicalType::integer(64, true))),
        ParquetType::Float => (Physical::FLOAT, None),
        ParquetType::Double => (Physical::DOUBLE, None),
        ParquetType::Decimal(Decimal { precision, scale }) => {
            let physical = match precision {
                0..=9 => Physical::INT32,
                10..=18 => Physical::INT64,
                _ => Physical::FIXED_LEN_BYTE_ARRAY,
            };
            (physical, Some(LogicalType::decimal(i32::from(scale), i32::from(precision))))
        }
        ParquetType::String => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ParquetType::Json => (Physical::BYTE_ARRAY, Some(LogicalType::Json)),
        ParquetType::Bytes => (Physical::BYTE_ARRAY, None),
        ParquetType::Date => (Physical::INT32, Some(LogicalType::Date)),
        ParquetType::Time => (Physical::INT64, Some(LogicalType::time(false, TimeUnit::MICROS))),
        ParquetType::Timestamp { utc } => {
            (Physical::INT64, Some(LogicalType::timestamp(utc, TimeUnit::MICROS)))
        }
        ParquetType::Uuid => (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)),
    }
}
