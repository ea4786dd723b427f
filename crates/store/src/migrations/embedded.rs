//! The files under `migrations/`, compiled in.

use std::fmt;

use refinery::{Migration, Runner};
use serde::Serialize;

/// One folder of migrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Schema {
    /// Tenants, intents, jobs.
    Export,
    /// Events to be relayed.
    Outbox,
    /// The search projection.
    Search,
    /// The statistics projection.
    Stats,
    /// Notifications.
    Notify,
}

/// One migration.
pub(super) struct File {
    pub(super) name: &'static str,
    sql: &'static str,
}

/// Named by a literal and not found by a macro: a file that is added has to be added here, and a test says so.
macro_rules! files {
    ($($folder:literal / $name:literal),+ $(,)?) => {
        &[$(File {
            name: $name,
            sql: include_str!(concat!("../../../../migrations/", $folder, "/", $name, ".sql")),
        }),+]
    };
}

const EXPORT: &[File] =
    files!["export" / "V1__tenants_and_keys", "export" / "V2__jobs", "export" / "V3__consumer"];
const OUTBOX: &[File] = files!["outbox" / "V1__events", "outbox" / "V2__privileges"];
const SEARCH: &[File] = files!["search" / "V1__documents", "search" / "V2__consumer"];
const STATS: &[File] = files!["stats" / "V1__counters", "stats" / "V2__consumer"];
const NOTIFY: &[File] = files!["notify" / "V1__notifications", "notify" / "V2__consumer"];

/// How the name of a file ends that grants Waybill's own roles what they may do.
const PRIVILEGES: &str = "privileges";

impl File {
    /// The number after the `V`; 0 for a name without one, which a test refuses.
    pub(super) fn version(&self) -> i32 {
        let number = self.name.strip_prefix('V').and_then(|rest| rest.split_once("__"));
        number.and_then(|(number, _)| number.parse().ok()).unwrap_or(0)
    }
}

impl Schema {
    /// Every schema, in the order in which they are migrated.
    pub const ALL: &'static [Self] = &[Self::Export, Self::Outbox, Self::Search, Self::Stats, Self::Notify];

    /// The schema's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Export => "export",
            Self::Outbox => "outbox",
            Self::Search => "search",
            Self::Stats => "stats",
            Self::Notify => "notify",
        }
    }

    /// The version that this Waybill knows.
    #[must_use]
    pub fn latest(self) -> i32 {
        self.files().iter().map(File::version).max().unwrap_or(0)
    }

    pub(super) const fn files(self) -> &'static [File] {
        match self {
            Self::Export => EXPORT,
            Self::Outbox => OUTBOX,
            Self::Search => SEARCH,
            Self::Stats => STATS,
            Self::Notify => NOTIFY,
        }
    }

    pub(super) fn runner(self) -> Result<Runner, refinery::Error> {
        runner(self.files().iter())
    }
}

/// What runs these files.
pub(super) fn runner<'a>(files: impl Iterator<Item = &'a File>) -> Result<Runner, refinery::Error> {
    let migrations: Result<Vec<_>, _> = files.map(|file| Migration::unapplied(file.name, file.sql)).collect();
    Ok(Runner::new(&migrations?))
}

/// The files of an outbox that say nothing of Waybill's own roles, and name no schema.
pub(super) fn outbox_structure() -> impl Iterator<Item = &'static File> {
    OUTBOX.iter().filter(|file| !is_privileges(file.name))
}

/// Whether a file of this name is one of the outbox's.
pub(super) fn is_outbox_file(name: &str) -> bool {
    OUTBOX.iter().any(|file| file.name == name)
}

/// Whether a migration of an outbox, by its name, grants Waybill's own roles what they may do.
pub(super) fn is_privileges(name: &str) -> bool {
    name.ends_with(PRIVILEGES)
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::Schema;

    #[test]
    fn the_structure_of_an_outbox_names_neither_a_schema_nor_a_role() {
        assert!(super::outbox_structure().count() > 0);
        for file in super::outbox_structure() {
            let code: Vec<&str> =
                file.sql.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
            let strays = code.iter().filter(|line| line.contains("outbox.") || line.contains("waybill_"));
            assert_eq!(strays.collect::<Vec<_>>(), Vec::<&&str>::new(), "{}", file.name);
        }
    }

    #[test]
    fn every_migration_file_is_compiled_in_and_versions_have_no_gap() {
        for schema in Schema::ALL {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(schema.as_str());
            let there: BTreeSet<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
                .collect();
            let known: BTreeSet<String> = schema.files().iter().map(|file| file.name.to_owned()).collect();
            assert_eq!(known, there, "{schema}");
            let versions: Vec<i32> = schema.files().iter().map(super::File::version).collect();
            assert_eq!(versions, (1..=schema.latest()).collect::<Vec<_>>(), "{schema}");
            assert!(schema.runner().is_ok(), "{schema}");
        }
    }
}
