//! A whole Waybill of one's own: database, topics, object store and any processes on them.

use std::path::{Path, PathBuf};

use reqwest::Url;
use serde_json::{Value, json};
use tokio::process::Command;
use toml::Value as Setting;
use uuid::Uuid;

use crate::caller::Caller;
use crate::database::TestDatabase;
use crate::environment::{kafka_bootstrap, waybill_binary};
use crate::kafka::TestTopics;
use crate::process::{Launch, Process, Status};
use crate::settings::Settings;

/// The data set of every test that does not say otherwise.
pub const ORDERS: &str = r#"
name = "orders"
description = "Every order."
source = "main"
table = "source.orders"
tenant_column = "tenant_id"
columns = ["order_id", "customer", "note", { name = "amount", as = "text" }, "ordered_at"]

[filters]
order_id = ["eq", "in", "range"]
customer = ["eq", "prefix", "is_null"]
ordered_at = ["range"]

[orders]
by_id = ["order_id"]
newest = ["ordered_at desc", "order_id"]

[defaults]
order = "by_id"
"#;

/// How many rows of the data set a tenant of a test owns.
pub const ROWS_OF_TENANT: i64 = 1_000;

/// A database, topics and an object store of one's own, with bounds that fit a test: leases of seconds, not minutes.
#[derive(Debug)]
pub struct System {
    /// Where everything is stored.
    pub database: TestDatabase,
    topics: TestTopics,
    settings: Settings,
    objects: PathBuf,
}

impl System {
    /// Migrated, with its topics applied and its consumers bound. No process runs yet.
    ///
    /// # Panics
    /// When the topics cannot be applied.
    pub async fn fresh() -> Self {
        Self::on_kafka(&kafka_bootstrap()).await
    }

    /// The same on another broker.
    ///
    /// # Panics
    /// When the topics cannot be applied.
    pub async fn on_kafka(bootstrap: &str) -> Self {
        Self::between(TestDatabase::fresh().await, bootstrap).await
    }

    /// The same in a database of a Postgres server of the test's own, of its administrator's URL.
    ///
    /// # Panics
    /// When the topics cannot be applied.
    pub async fn on_server(url: &str) -> Self {
        Self::between(TestDatabase::on_server(url).await, &kafka_bootstrap()).await
    }

    async fn between(database: TestDatabase, bootstrap: &str) -> Self {
        let topics = TestTopics::fresh();
        let objects = std::env::temp_dir().join(format!("waybill-objects-{}", Uuid::new_v4().simple()));
        std::fs::create_dir_all(&objects).unwrap_or_else(|error| panic!("{}: {error}", objects.display()));
        let settings = Settings::on_database(&database)
            .topic_prefix(topics.prefix())
            .set("kafka.bootstrap", bootstrap)
            .set("object_store.url", format!("file://{}", objects.display()))
            .set("notifier.webhook.allow_private_networks", true)
            .set("notifier.webhook.signing_secret", "a-secret-of-a-test-that-is-long-enough")
            .set("relay.lease_ms", 2_000)
            .set("worker.lease_ms", 3_000)
            .set("worker.heartbeat_ms", 1_000);
        let system = Self { database, topics, settings, objects };
        let applied = system.command(&["topic", "apply"]);
        let status = applied.wait_over().await;
        assert_eq!(status, Status::Exited(0), "topic apply: {}", applied.log().tail());
        system
    }

    /// The same with a setting changed for the processes that start from now on.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Setting>) -> Self {
        self.settings = self.settings.clone().set(key, value);
        self
    }

    /// The settings of its processes.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings.clone()
    }

    /// The whole name of a topic: `waybill.export.events` under this system's prefix.
    #[must_use]
    pub fn topic(&self, name: &str) -> String {
        format!("{}{name}", self.topics.prefix())
    }

    /// The consumer group of that name, under this system's prefix.
    #[must_use]
    pub fn group(&self, name: &str) -> String {
        format!("{}{name}", self.topics.prefix())
    }

    /// The folder of the object store.
    #[must_use]
    pub fn objects(&self) -> &Path {
        &self.objects
    }

    /// Starts a process with these roles.
    #[must_use]
    pub fn start(&self, roles: &[&str]) -> Process {
        Launch::roles(roles, self.settings()).start()
    }

    /// Starts a process with these roles that stops itself at this point.
    #[must_use]
    pub fn start_at(&self, roles: &[&str], point: &str) -> Process {
        Launch::roles(roles, self.settings()).fault_point(point).start()
    }

    /// Starts an operator's command.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Process {
        Launch::command(arguments, self.settings()).start()
    }

    /// An api, its first operator, and a tenant's caller.
    pub async fn called(&self) -> (Process, Caller, Caller) {
        let api = self.start(&["api"]);
        let operator = self.operator(&api).await;
        let caller = self.tenant(&operator, "a tenant").await;
        (api, operator, caller)
    }

    /// The first operator, with a key from the command that makes the first one.
    ///
    /// # Panics
    /// When the command refuses.
    pub async fn operator(&self, api: &Process) -> Caller {
        let config = self.objects.with_extension("toml");
        std::fs::write(&config, self.settings.to_toml()).unwrap_or_else(|error| panic!("{error}"));
        let made = Command::new(waybill_binary())
            .args(["api-key", "create", "--first", "--json"])
            .env("WAYBILL_CONFIG", &config)
            .output()
            .await
            .unwrap_or_else(|error| panic!("cannot run waybill: {error}"));
        let said = String::from_utf8_lossy(&made.stdout);
        assert!(
            made.status.success(),
            "api-key create --first: {said}{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let answer: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{said}: {error}"));
        let key = answer["api_key"].as_str().unwrap_or_else(|| panic!("no key in {answer}"));
        Caller::new(base_url(api).await, key, None)
    }

    /// A tenant with a key and [`ROWS_OF_TENANT`] rows in the data set `orders`.
    ///
    /// # Panics
    /// When the api refuses.
    pub async fn tenant(&self, operator: &Caller, name: &str) -> Caller {
        let made = operator.post("/v1/ops/tenants", &json!({ "name": name })).await.created();
        let tenant_id = text(&made, "tenant_id");
        let account = json!({ "tenant_id": tenant_id, "name": "caller" });
        let account = operator.post("/v1/ops/service-accounts", &account).await.created();
        let wanted = json!({
            "service_account_id": text(&account, "service_account_id"),
            "scopes": ["exports:read", "exports:write"],
        });
        let key = operator.post("/v1/ops/api-keys", &wanted).await.created();
        self.seed(&tenant_id).await;
        operator.apply_dataset(ORDERS).await;
        operator.with_key(&text(&key, "api_key"), Some(&tenant_id))
    }

    /// Rows that a careless writer of CSV would get wrong.
    async fn seed(&self, tenant_id: &str) {
        let admin = self.database.admin().await;
        let statements = "
            CREATE SCHEMA IF NOT EXISTS source;
            CREATE TABLE IF NOT EXISTS source.orders (
                tenant_id text NOT NULL, order_id bigint NOT NULL, customer text, note text,
                amount numeric, ordered_at timestamptz, PRIMARY KEY (tenant_id, order_id)
            );
            GRANT USAGE ON SCHEMA source TO waybill_worker;
            GRANT SELECT ON source.orders TO waybill_worker;";
        admin.batch_execute(statements).await.unwrap_or_else(|error| panic!("{error:?}"));
        let insert = "
            INSERT INTO source.orders
            SELECT $1, n,
                (ARRAY['Ada, Countess', '王小明', 'さくら \"花\"', '', NULL])[n % 5 + 1],
                (ARRAY['one line', E'two\\nlines', E'with\\r\\nreturn', 'it''s 🚀', NULL])[n % 5 + 1],
                (n - 500) * 12345678901234567.89,
                timestamptz '2026-01-01 00:00:00+09' + n * interval '7 minutes'
            FROM generate_series(1, $2::bigint) AS n";
        let inserted = admin.execute(insert, &[&tenant_id, &ROWS_OF_TENANT]).await;
        inserted.unwrap_or_else(|error| panic!("cannot seed: {error:?}"));
    }
}

impl Drop for System {
    fn drop(&mut self) {
        // What cannot be removed lies in the machine's folder for such things.
        let _ = std::fs::remove_dir_all(&self.objects);
        let _ = std::fs::remove_file(self.objects.with_extension("toml"));
    }
}

/// Where this api answers.
///
/// # Panics
/// When it does not say where it listens in time.
pub async fn base_url(api: &Process) -> Url {
    let address = api.listening("api").await;
    Url::parse(&format!("http://{address}")).unwrap_or_else(|error| panic!("{address}: {error}"))
}

fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_else(|| panic!("no {member} in {value}")).to_owned()
}
