//! The statement that a file's rows come from: names quoted as Postgres quotes them, values only as constants of ours.

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
pub(crate) fn copy<'a>(expressions: impl Iterator<Item = &'a str>, rest: &str) -> String {
    let list = expressions.collect::<Vec<_>>().join(", ");
    format!("COPY (SELECT {list} {rest}) TO STDOUT (FORMAT binary)")
}

/// An identifier in quotes (PostgreSQL, section 4.1.1).
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_whatever_is_in_it() {
        assert_eq!(expression("a \"b\"; --", Selected::Itself), "waybill_rows.\"a \"\"b\"\"; --\"");
        assert_eq!(expression("訂單", Selected::Cast), "waybill_rows.\"訂單\"::pg_catalog.text");
    }
}
