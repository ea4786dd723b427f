//! A database with tenants, a data set and jobs, and workers on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, Pool};
use serde_json::json;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, NoTls};
use uuid::Uuid;
use waybill_datasets::parse;
use waybill_domain::ids::{ExportId, ServiceAccountId, TenantId};
use waybill_objects::Place;
use waybill_publication::Publisher;
use waybill_runtime::Sources;
use waybill_source::describe;
use waybill_store::dataset::{self, NewRevision};
use waybill_testkit::{Settings, TestDatabase};
use waybill_worker::Worker;

use crate::gate::Gate;

/// The data set of every test that does not say otherwise.
pub(crate) const ORDERS: &str = r#"
name = "orders"
source = "main"
table = "shop.orders"
tenant_column = "tenant_id"
columns = ["order_id", "note", "amount", "placed_at"]
[orders]
by_id = ["order_id"]
"#;

/// What one test works on.
pub(crate) struct House {
    pub(crate) database: TestDatabase,
    pub(crate) admin: Client,
    objects: PathBuf,
}

impl House {
    /// An empty one, with the data set `orders` registered and readable by the worker.
    pub(crate) async fn new() -> Self {
        let database = TestDatabase::fresh().await;
        let admin = database.admin().await;
        admin
            .batch_execute(
                "CREATE SCHEMA shop;
                 CREATE TABLE shop.orders (
                     order_id bigint PRIMARY KEY, tenant_id text NOT NULL, note text, amount numeric, placed_at timestamptz
                 );
                 GRANT USAGE ON SCHEMA shop TO waybill_worker;
                 GRANT SELECT ON shop.orders TO waybill_worker;",
            )
            .await
            .expect("the data set's table is made");
        let objects = std::env::temp_dir().join(format!("waybill-worker-test-{}", Uuid::new_v4().simple()));
        let house = Self { database, admin, objects };
        house.apply(1, ORDERS).await;
        house
    }

    /// Stores a revision of a data set, as it is when its file is applied now.
    pub(crate) async fn apply(&self, revision: i64, file: &str) {
        let declaration = parse(file).expect("a good file");
        let described = describe(&self.admin, &declaration).await.expect("the database answers");
        let new = NewRevision {
            dataset: &declaration.dataset,
            revision,
            declaration: &json!(declaration),
            columns: &json!(described.columns),
            applied_by: "a test",
        };
        dataset::insert(&self.admin, new).await.expect("an answer").expect("the revision is new");
    }

    /// A worker of this house with a lease that no test outlasts.
    pub(crate) fn worker(&self, name: &str) -> Arc<Worker> {
        self.worker_with_lease(name, Duration::from_secs(600))
    }

    /// A worker of this house.
    pub(crate) fn worker_with_lease(&self, name: &str, lease: Duration) -> Arc<Worker> {
        Arc::new(self.worker_on(pool(self.config()), self.sources(None), name, lease))
    }

    /// A worker whose way to the database of exports, and to no other, leads through this gate.
    pub(crate) fn worker_behind(&self, gate: &Gate, lease: Duration) -> Arc<Worker> {
        let config = self.config();
        let mut behind = Config::new();
        behind.host(gate.address().ip().to_string()).port(gate.address().port());
        behind.user(config.get_user().expect("a role")).dbname(config.get_dbname().expect("a database"));
        behind.password(config.get_password().expect("a password"));
        Arc::new(self.worker_on(pool(behind), self.sources(None), "behind the gate", lease))
    }

    /// A worker whose way to the data sets, and to nothing else, leads through this address.
    pub(crate) fn worker_reading_through(&self, url: &str) -> Arc<Worker> {
        let lease = Duration::from_secs(600);
        Arc::new(self.worker_on(pool(self.config()), self.sources(Some(url)), "reading through", lease))
    }

    /// A gate before this house's server.
    pub(crate) async fn gate(&self) -> Gate {
        let config = self.config();
        let Some(Host::Tcp(host)) = config.get_hosts().first() else {
            panic!("the test server has no address")
        };
        Gate::before((host.clone(), config.get_ports().first().copied().unwrap_or(5432))).await
    }

    fn worker_on(&self, export: Pool, sources: Sources, name: &str, lease: Duration) -> Worker {
        let url = self.objects_url();
        Worker {
            name: name.to_owned(),
            export,
            sources,
            objects: Place::parse(&url, [])
                .and_then(|place| place.to_write())
                .expect("a directory can be made"),
            publisher: Publisher::new("urn:waybill:test", "test.").expect("source and prefix are fine"),
            lease,
            heartbeat: lease / 3,
        }
    }

    /// The one source, `main`, is the house's own database, read by the worker.
    fn sources(&self, through: Option<&str>) -> Sources {
        let settings = Settings::on_database(&self.database);
        let settings = match through {
            Some(url) => settings.set("sources.main.url", url),
            None => settings,
        };
        let config = waybill_runtime::Config::from_sources(Path::new("test"), &settings.to_toml(), []);
        Sources::new(Arc::new(config.expect("a configuration")))
    }

    /// Where this house's objects lie, as the configuration wants it.
    pub(crate) fn objects_url(&self) -> String {
        format!("file://{}", self.objects.display())
    }

    fn config(&self) -> Config {
        self.database.role_url("worker").parse().expect("the testkit's address is one")
    }

    /// Where a key's object lies.
    pub(crate) fn object(&self, key: &str) -> PathBuf {
        self.objects.join(key)
    }

    /// A tenant that may run so many jobs at once.
    pub(crate) async fn tenant(&self, running_limit: i32) -> TenantId {
        let tenant = TenantId::from_uuid(Uuid::now_v7());
        let account = ServiceAccountId::from_uuid(Uuid::now_v7());
        self.admin
            .execute(
                "INSERT INTO export.tenants (tenant_id, name, running_limit) VALUES ($1, $1, $2)",
                &[&tenant.as_str(), &running_limit],
            )
            .await
            .expect("a tenant");
        self.admin
            .execute(
                "INSERT INTO export.service_accounts (service_account_id, tenant_id, name) VALUES ($1, $2, 'caller')",
                &[&account.as_str(), &tenant.as_str()],
            )
            .await
            .expect("a service account");
        tenant
    }

    /// A pending job of `orders`, due since so many seconds.
    pub(crate) async fn job(&self, tenant: &TenantId, due_since_seconds: i32) -> ExportId {
        let export = ExportId::from_uuid(Uuid::now_v7());
        self.admin
            .execute(
                "INSERT INTO export.jobs (
                     export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, order_name,
                     state, version, due_at, remind_at
                 )
                 SELECT $1, tenant_id, service_account_id, 'orders', 1, 'csv', '{order_id,note,amount,placed_at}', 'by_id',
                     'pending', 1, now() - make_interval(secs => $3::integer), now()
                 FROM export.service_accounts WHERE tenant_id = $2",
                &[&export.as_str(), &tenant.as_str(), &due_since_seconds],
            )
            .await
            .expect("a job");
        export
    }

    /// Gives a tenant the rows of the data set that hurt: every kind of value that CSV can get wrong.
    pub(crate) async fn orders(&self, tenant: &TenantId, rows: i32) {
        self.admin
            .execute(
                "INSERT INTO shop.orders
                 SELECT coalesce((SELECT max(order_id) FROM shop.orders), 0) + n, $1,
                     (ARRAY[NULL, '', 'a,b', 'say \"no\"', E'two\\nlines\\r\\n', '訂單與出荷 🚚', '\\.', ' '])[1 + n % 8],
                     CASE WHEN n % 5 = 0 THEN NULL ELSE (-1) ^ n * 12345678901234567890.123456789 * n END,
                     timestamptz '2026-03-29 01:30:00+01' + n * interval '37 minutes'
                 FROM generate_series(1, $2::integer) AS n",
                &[&tenant.as_str(), &rows],
            )
            .await
            .expect("orders");
    }

    /// Lets a job's lease be over.
    pub(crate) async fn lapse(&self, export: &ExportId) {
        let lapsed = self
            .admin
            .execute(
                "UPDATE export.jobs SET lease_until = now() - interval '1 second' WHERE export_id = $1 AND state = 'running'",
                &[&export.as_str()],
            )
            .await;
        assert_eq!(lapsed.expect("an update"), 1, "{export} is not running");
    }

    /// One line for all that is stored about an export: job, attempts, candidates, facts.
    pub(crate) async fn story(&self, export: &ExportId) -> String {
        let row = self
            .admin
            .query_one(
                "SELECT format('%s v%s f%s lost %s failed %s result %s code %s | %s | %s | %s',
                     job.state, job.version, job.fence, job.lost_leases, job.transient_failures,
                     (job.result_candidate_id IS NOT NULL)::text, coalesce(job.failure_code, '-'),
                     (SELECT string_agg(format('%s:%s:%s', fence, state, coalesce(error_code, '-')), ' ' ORDER BY fence)
                      FROM export.attempts WHERE export_id = job.export_id),
                     (SELECT string_agg(fence || ':' || state, ' ' ORDER BY created_at)
                      FROM export.candidates WHERE export_id = job.export_id),
                     (SELECT string_agg(version || ':' || replace(type, 'waybill.export.', ''), ' ' ORDER BY version)
                      FROM export.facts WHERE export_id = job.export_id))
                 FROM export.jobs AS job WHERE export_id = $1",
                &[&export.as_str()],
            )
            .await
            .expect("the job is there");
        row.get(0)
    }

    /// How many rows the outbox holds.
    pub(crate) async fn outbox_rows(&self) -> i64 {
        self.admin.query_one("SELECT count(*) FROM outbox.events", &[]).await.expect("a count").get(0)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // What stays behind lies in the machine's folder for what may go.
        let _left = std::fs::remove_dir_all(&self.objects);
    }
}

fn pool(config: Config) -> Pool {
    Pool::builder(Manager::new(config, NoTls)).max_size(16).build().expect("no timeouts are set")
}
