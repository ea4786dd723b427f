//! The configuration that a test gives a process: Waybill's own TOML, set key by key.

use toml::{Table, Value};
use url::Url;
use waybill_devstack::without_user;

use crate::database::{ROLE_PASSWORD, ROLES, TestDatabase};
use crate::environment::kafka_bootstrap;

/// A configuration in the making. Keys are dotted: `worker.lease_ms`.
#[derive(Clone, Debug, Default)]
pub struct Settings(Table);

impl Settings {
    /// Nothing set: the compiled-in defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every schema and the source `main` in this database, every role with its test password, listeners on free ports, logs
    /// as JSON.
    #[must_use]
    pub fn on_database(database: &TestDatabase) -> Self {
        Self::on(&database.admin_url(), &database.plain_url())
    }

    pub(crate) fn on_server(database: &Url) -> Self {
        Self::on(database.as_str(), without_user(database).as_str())
    }

    fn on(admin_url: &str, plain_url: &str) -> Self {
        let mut settings = Self::new()
            .set("admin.postgres_url", admin_url)
            .set("management.listen", "127.0.0.1:0")
            .set("api.listen", "127.0.0.1:0")
            .set("telemetry.format", "json");
        for schema in ["export", "search", "stats", "notify"] {
            settings = settings.set(&format!("database.{schema}.url"), plain_url);
        }
        settings = settings.set("sources.main.url", plain_url);
        for role in ROLES {
            settings = settings.set(&format!("credentials.{role}.password"), ROLE_PASSWORD);
        }
        settings
    }

    /// With the test Kafka, and all of its topics and groups under `prefix`.
    #[must_use]
    pub fn topic_prefix(self, prefix: &str) -> Self {
        self.set("kafka.bootstrap", kafka_bootstrap()).set("kafka.topic_prefix", prefix)
    }

    /// With the dotted key set to the value.
    ///
    /// # Panics
    /// When a part of the key before the last is already set to something that holds no keys.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        let mut parts: Vec<&str> = key.split('.').collect();
        let last = parts.pop().unwrap_or_default();
        let mut table = &mut self.0;
        for part in parts {
            let entry = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
            table = entry.as_table_mut().unwrap_or_else(|| panic!("{part} of {key} holds a value, not keys"));
        }
        table.insert(last.to_owned(), value.into());
        self
    }

    /// As TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.0.to_string()
    }
}
