use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::DatabaseUrl;
use crate::role::Schema;

/// Where `[database.export]` is when nothing says otherwise.
const DEFAULT_URL: &str = "postgres://127.0.0.1:5432/waybill";

/// `[database.<schema>]`: the database of each schema. `outbox` has none of its own: it commits with `export`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Databases {
    /// Tenants, jobs and the outbox.
    pub export: Database,
    /// The search projection.
    pub search: Database,
    /// The statistics projection.
    pub stats: Database,
    /// Notifications.
    pub notify: Database,
}

/// One database as a role sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    /// Its address; none means the export database's.
    pub url: Option<DatabaseUrl>,
    /// The most connections that one role of one process keeps.
    pub pool_connections_max: usize,
    /// How long a caller waits for a connection before it is told that there is none.
    pub acquire_timeout_ms: u64,
}

impl Default for Database {
    fn default() -> Self {
        Self { url: None, pool_connections_max: 8, acquire_timeout_ms: 3000 }
    }
}

impl Database {
    /// [`Self::acquire_timeout_ms`] as a duration.
    #[must_use]
    pub fn acquire_timeout(&self) -> Duration {
        Duration::from_millis(self.acquire_timeout_ms)
    }
}

impl Databases {
    /// The settings of a schema's database.
    #[must_use]
    pub fn of(&self, schema: Schema) -> &Database {
        match schema {
            Schema::Export | Schema::Outbox => &self.export,
            Schema::Search => &self.search,
            Schema::Stats => &self.stats,
            Schema::Notify => &self.notify,
        }
    }

    /// The address of a schema's database.
    #[must_use]
    pub fn url(&self, schema: Schema) -> DatabaseUrl {
        let own = self.of(schema).url.as_ref();
        own.or(self.export.url.as_ref()).cloned().unwrap_or_else(|| DatabaseUrl::new(DEFAULT_URL))
    }

    /// Gives the export database its address when none was configured: the admin's, without the admin, or the
    /// compiled-in one.
    pub(crate) fn complete(&mut self, admin: Option<&DatabaseUrl>) {
        if self.export.url.is_none() {
            self.export.url =
                Some(admin.map_or_else(|| DatabaseUrl::new(DEFAULT_URL), DatabaseUrl::without_user));
        }
    }
}
