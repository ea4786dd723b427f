//! `columns = ["order_id", { name = "note", as = "text", description = "…" }]`

use waybill_domain::export::{COLUMN_BYTES_MAX, COLUMNS_MAX};

use super::description;
use super::reader::{Found, Keys, Reader};
use crate::declaration::DeclaredColumn;

const KEYS: [&str; 3] = ["name", "description", "as"];

/// Whether this can be the name of a column; otherwise that is remembered.
pub(super) fn is_column(reader: &mut Reader<'_>, found: &Found<String>) -> bool {
    let fits =
        |name: &str| (1..=COLUMN_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control);
    reader.checked(found, fits, "must be the name of a column")
}

pub(super) fn columns(reader: &mut Reader<'_>, root: &Keys<'_, '_>) -> Vec<DeclaredColumn> {
    let problem = format!(
        "must be an array of 1 to {COLUMNS_MAX} columns, such as [\"order_id\", {{ name = \"note\", as = \"text\" }}]"
    );
    let Some(found) = Reader::find(root, "columns") else {
        reader.add_missing(root, "columns", "is required: what may be exported, in the order of the file");
        return Vec::new();
    };
    let items = reader.items(&found, &problem);
    if items.len() > COLUMNS_MAX {
        reader.add(&found, &problem);
    }
    let mut columns: Vec<DeclaredColumn> = Vec::new();
    for item in items {
        let (name, column) = match Reader::keys(&item) {
            Some(keys) => {
                reader.known(&keys, &KEYS);
                let as_text = reader
                    .text(&keys, "as")
                    .is_some_and(|found| reader.checked(&found, |text| text == "text", "must be \"text\""));
                let description = description(reader, &keys);
                let Some(name) = reader.required(&keys, "name", "the column's name in the rows") else {
                    continue;
                };
                let column = DeclaredColumn { name: name.value.clone(), description, as_text };
                (name, column)
            }
            None => {
                let Some(name) = reader.text_of(&item) else { continue };
                let column = DeclaredColumn { name: name.value.clone(), description: None, as_text: false };
                (name, column)
            }
        };
        if !is_column(reader, &name) {
            continue;
        }
        if columns.iter().any(|before| before.name == column.name) {
            reader.add(&name, "names a column for the second time");
        }
        columns.push(column);
    }
    columns
}
