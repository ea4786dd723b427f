//! What an accepted export is made by, beside the revision of its data set.

use super::{Compression, Filters, Format, FormatOptions};

/// Everything about an export's file that its request left open, said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The revision of its data set.
    pub dataset_revision: i64,
    /// The format of its file.
    pub format: Format,
    /// The format's options: what the request said, else what the data set says.
    pub options: FormatOptions,
    /// The compression.
    pub compression: Compression,
    /// The columns, in the order of the file.
    pub columns: Vec<String>,
    /// Which rows.
    pub filters: Filters,
    /// The name of their order; none means that rows come as they come.
    pub order: Option<String>,
}
