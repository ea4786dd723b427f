//! The statement that a file's rows come from: names quoted as Postgres quotes them, values only as constants of ours.

use std::fmt::Write as _;

use crate::file_kind::{CsvOptions, Format};

/// What the source of the rows must be called in what follows the select list.
///
/// Every column is named with it, and `ORDER BY` must do so too: an unqualified name there means an output column, which
/// may be the text of the one that is meant, and texts sort otherwise.
pub const SOURCE_ALIAS: &str = "waybill_rows";

/// How a column stands in the select list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selected {
    /// The column.
    Itself,
    /// Its text, for a type whose cast to `text` is its output function.
    Cast,
    /// The same for each element of an array.
    ArrayCast,
    /// What its type's output function writes, whatever casts there are.
    Output,
}

/// The column's expression in the select list.
pub(crate) fn expression(name: &str, selected: Selected) -> String {
    let column = format!("{SOURCE_ALIAS}.{}", quoted(name));
    match selected {
        Selected::Itself => column,
        Selected::Cast => format!("{column}::pg_catalog.text"),
        Selected::ArrayCast => format!("{column}::pg_catalog.text[]"),
        // `format` writes NULL as an empty text. `IS NULL` would take a row of nothing but NULLs for NULL.
        Selected::Output => {
            format!("CASE WHEN {column} IS DISTINCT FROM NULL THEN pg_catalog.format('%s', {column}) END")
        }
    }
}

/// The whole COPY, of a select list and of what follows it.
pub(crate) fn copy<'a>(expressions: impl Iterator<Item = &'a str>, rest: &str, format: Format) -> String {
    let list = expressions.collect::<Vec<_>>().join(", ");
    let options = match format {
        Format::Csv(options) => csv_options(options),
        Format::Ndjson(_) | Format::Parquet(_) => "FORMAT binary".to_owned(),
    };
    format!("COPY (SELECT {list} {rest}) TO STDOUT ({options})")
}

fn csv_options(options: CsvOptions) -> String {
    let mut text = "FORMAT csv, ENCODING 'UTF8'".to_owned();
    if options.delimiter != crate::Delimiter::Comma {
        // None of them is a quote or a backslash.
        let _infallible = write!(text, ", DELIMITER '{}'", char::from(options.delimiter.byte()));
    }
    if options.header {
        text.push_str(", HEADER");
    }
    text
}

/// An identifier in quotes (PostgreSQL, section 4.1.1).
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_kind::{Delimiter, NdjsonOptions};

    #[test]
    fn a_name_is_quoted_whatever_is_in_it() {
        assert_eq!(expression("a \"b\"; --", Selected::Itself), "waybill_rows.\"a \"\"b\"\"; --\"");
        assert_eq!(expression("訂單", Selected::Cast), "waybill_rows.\"訂單\"::pg_catalog.text");
    }

    #[test]
    fn the_options_of_the_copy_are_those_of_the_file() {
        let plain = copy(["1"].into_iter(), "", Format::Csv(CsvOptions::default()));
        assert_eq!(plain, "COPY (SELECT 1 ) TO STDOUT (FORMAT csv, ENCODING 'UTF8', HEADER)");
        let options = CsvOptions { delimiter: Delimiter::Tab, header: false, ..CsvOptions::default() };
        let tabs = copy(["a", "b"].into_iter(), "FROM c", Format::Csv(options));
        assert_eq!(tabs, "COPY (SELECT a, b FROM c) TO STDOUT (FORMAT csv, ENCODING 'UTF8', DELIMITER '\t')");
        let ndjson = copy(["a"].into_iter(), "FROM c", Format::Ndjson(NdjsonOptions::default()));
        assert_eq!(ndjson, "COPY (SELECT a FROM c) TO STDOUT (FORMAT binary)");
    }
}
