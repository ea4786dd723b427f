//! One struct a concern, each in its own file; defaults are compiled in and written out, with comments, in
//! `default.toml`.
//!
//! A value comes from the file, then from `WAYBILL_<SECTION>__<KEY>` in the environment. What no struct knows is
//! refused. Deliberately absent: reloading (a process that runs has the configuration that it started with), and
//! reading any secret's file before somebody asks for the secret.

mod admin;
mod api;
mod credentials;
mod database;
mod deployment;
mod environment;
mod error;
mod kafka;
mod known;
mod load;
mod management;
mod notifier;
mod object_store;
mod outbox;
mod reconciler;
mod relations;
mod relay;
mod scalars;
mod source;
mod telemetry;
#[cfg(test)]
mod tests;
mod url;
mod worker;

use serde::{Deserialize, Serialize};

pub use admin::Admin;
pub use api::{Api, Content};
pub use credentials::{Credential, Credentials};
pub use database::{Database, Databases};
pub use deployment::Deployment;
pub use error::ConfigError;
pub use kafka::{Kafka, KafkaSettings};
pub use load::DEFAULT_FILE;
pub use management::Management;
pub use notifier::{Notifier, Smtp, SmtpTls, Webhook};
pub use object_store::{ObjectStore, StoreSettings};
pub use outbox::{MAIN_OUTBOX, Outbox, Outboxes};
pub use reconciler::{COLLECT_AFTER_HOURS_MIN, CONDEMNED_FOR_MINUTES_MIN, Reconciler};
pub use relations::RESULT_RETENTION_HOURS_MAX;
pub use relay::{Compression, Relay};
pub use source::{Source, Sources};
pub use telemetry::{LogFormat, Telemetry};
pub use url::DatabaseUrl;
pub use worker::Worker;

/// The compiled-in defaults as a commented file: what `waybill config default` prints.
pub const DEFAULT_TOML: &str = include_str!("config/default.toml");

/// Everything that can be configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default = "Config::incomplete", deny_unknown_fields)]
pub struct Config {
    /// `[deployment]`
    pub deployment: Deployment,
    /// `[database.<schema>]`
    pub database: Databases,
    /// `[sources.<name>]`
    #[serde(deserialize_with = "source::named")]
    pub sources: Sources,
    /// `[credentials.<role>]`
    pub credentials: Credentials,
    /// `[admin]`
    pub admin: Admin,
    /// `[kafka]`
    pub kafka: Kafka,
    /// `[object_store]`
    pub object_store: ObjectStore,
    /// `[management]`
    pub management: Management,
    /// `[api]`
    pub api: Api,
    /// `[relay]`
    pub relay: Relay,
    /// `[worker]`
    pub worker: Worker,
    /// `[reconciler]`
    pub reconciler: Reconciler,
    /// `[notifier]`
    pub notifier: Notifier,
    /// `[telemetry]`
    pub telemetry: Telemetry,
}

impl Default for Config {
    fn default() -> Self {
        let mut config = Self::incomplete();
        config.complete();
        config
    }
}

impl Config {
    /// The defaults without what follows from other values: a file may still give those.
    fn incomplete() -> Self {
        Self {
            deployment: Deployment::default(),
            database: Databases::default(),
            sources: Sources::new(),
            credentials: Credentials::default(),
            admin: Admin::default(),
            kafka: Kafka::default(),
            object_store: ObjectStore::default(),
            management: Management::default(),
            api: Api::default(),
            relay: Relay::default(),
            worker: Worker::default(),
            reconciler: Reconciler::default(),
            notifier: Notifier::default(),
            telemetry: Telemetry::default(),
        }
    }

    /// Fills in what follows from other values.
    fn complete(&mut self) {
        self.database.complete(self.admin.postgres_url.as_ref());
        self.credentials.complete();
    }
}
