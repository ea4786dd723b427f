//! One state of a data set, for ever.

use serde_json::Value;
use waybill_domain::export::{Compression, Format, FormatOptions};
use waybill_formats::{Column, Plan, PlanError};

use crate::declaration::{Declaration, FormatDefaults};
use crate::kind::{default_compression, kind};
use crate::pinned::PinnedColumn;

/// A data set as it was applied: what was declared, and the types that its columns had. It never changes; an export is
/// made by the one that it was accepted with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// From 1, one more with each change.
    pub revision: i64,
    /// What its file declared.
    pub declaration: Declaration,
    /// Every column that the declaration names, as the database described it.
    pub columns: Vec<PinnedColumn>,
}

impl Revision {
    /// The revision that is stored like this.
    ///
    /// # Errors
    /// What is stored is of another version.
    pub fn read(revision: i64, declaration: Value, columns: Value) -> Result<Self, serde_json::Error> {
        let declaration = serde_json::from_value(declaration)?;
        Ok(Self { revision, declaration, columns: serde_json::from_value(columns)? })
    }

    /// The pinned column of that name.
    #[must_use]
    pub fn pinned(&self, name: &str) -> Option<&PinnedColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The columns of that name for a file's plan; what is not pinned is left out.
    #[must_use]
    pub fn planned(&self, names: &[String]) -> Vec<Column> {
        let as_text =
            |name: &str| self.declaration.columns.iter().any(|column| column.name == name && column.as_text);
        names.iter().filter_map(|name| self.pinned(name)?.column(as_text(name))).collect()
    }

    /// What all exported columns become in a format as its defaults have it, or why some cannot.
    ///
    /// # Errors
    /// The columns that the format cannot hold exactly.
    pub fn plan(&self, format: Format) -> Result<Plan, PlanError> {
        let names: Vec<String> = self.declaration.columns.iter().map(|column| column.name.clone()).collect();
        Plan::new(&self.planned(&names), kind(format, &self.options(format), self.compression(format))?)
    }

    /// What files of a format are compressed with when a request does not say.
    #[must_use]
    pub fn compression(&self, format: Format) -> Compression {
        self.defaults(format).compression.unwrap_or(default_compression(format))
    }

    /// The options of a format when a request does not say.
    #[must_use]
    pub fn options(&self, format: Format) -> FormatOptions {
        self.defaults(format).options
    }

    fn defaults(&self, format: Format) -> FormatDefaults {
        self.declaration.defaults.formats.get(&format).copied().unwrap_or_default()
    }
}
