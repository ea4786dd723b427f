//! `[defaults]`: what a request need not say, for each format in a table of its own.

use std::collections::BTreeMap;

use waybill_domain::export::{Compression, DELIMITERS, Format, FormatOptions, WideNumbers};

use super::reader::{Keys, Reader};
use crate::declaration::{Defaults, FormatDefaults, OrderKey};

const KEYS: [&str; 4] = ["order", "csv", "ndjson", "parquet"];

pub(super) fn defaults(
    reader: &mut Reader<'_>,
    root: &Keys<'_, '_>,
    orders: &BTreeMap<String, Vec<OrderKey>>,
) -> Defaults {
    let Some(keys) = reader.table(root, "defaults") else { return Defaults::default() };
    reader.known(&keys, &KEYS);
    let order = reader.text(&keys, "order");
    if let Some(order) = &order {
        let known: Vec<&str> = orders.keys().map(String::as_str).collect();
        let problem = format!("must be one of [orders]: {}", known.join(", "));
        reader.checked(order, |name| orders.contains_key(name), &problem);
    }
    let mut formats = BTreeMap::new();
    for format in Format::ALL {
        if let Some(keys) = reader.table(&keys, format.as_str()) {
            formats.insert(format, of_format(reader, &keys, format));
        }
    }
    Defaults { order: order.map(|order| order.value), formats }
}

fn of_format(reader: &mut Reader<'_>, keys: &Keys<'_, '_>, format: Format) -> FormatDefaults {
    reader.known(keys, &[&["compression"], format.options()].concat());
    let compression = reader.text(keys, "compression").and_then(|found| {
        let compression = Compression::parse(&found.value);
        if compression.is_none() {
            reader.add(&found, "must be \"none\", \"gzip\" or \"zstd\"");
        }
        compression
    });
    // An option of another format was refused as an unknown key.
    let has = |name: &str| format.options().contains(&name);
    let mut options = FormatOptions::default();
    if has("delimiter") {
        options.delimiter = delimiter(reader, keys);
        options.header = reader.flag(keys, "header");
        options.byte_order_mark = reader.flag(keys, "byte_order_mark");
        options.spreadsheet_safe = reader.flag(keys, "spreadsheet_safe");
    }
    if has("wide_numbers") {
        options.wide_numbers =
            reader.text(keys, "wide_numbers").and_then(|found| match found.value.as_str() {
                "number" => Some(WideNumbers::Number),
                "text" => Some(WideNumbers::Text),
                _ => {
                    reader.add(&found, "must be \"number\" or \"text\"");
                    None
                }
            });
    }
    FormatDefaults { compression, options }
}

fn delimiter(reader: &mut Reader<'_>, keys: &Keys<'_, '_>) -> Option<char> {
    let found = reader.text(keys, "delimiter")?;
    let mut characters = found.value.chars();
    let delimiter = characters.next().filter(|c| characters.next().is_none() && DELIMITERS.contains(c));
    if delimiter.is_none() {
        reader.add(&found, r#"must be ",", ";", "\t" or "|""#);
    }
    delimiter
}
