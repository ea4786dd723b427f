//! A database with exports that worked, failed or are at it, and the files that they wrote.

use std::path::PathBuf;

use deadpool_postgres::{Manager, Pool};
use jiff::SignedDuration;
use tokio_postgres::{Client, NoTls};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use waybill_domain::candidate::Patience;
use waybill_domain::ids::{CandidateId, ExportId, ServiceAccountId, TenantId};
use waybill_objects::{Objects, Place};
use waybill_publication::Publisher;
use waybill_reconciler::{Collected, RoundError, collect, expire};
use waybill_testkit::TestDatabase;

/// As long as the configuration's shortest.
pub(crate) const PATIENCE: Patience =
    Patience { collect_after: SignedDuration::from_hours(13), condemned_for: SignedDuration::from_mins(10) };

/// How many exports one transaction expires here.
pub(crate) const EXPORTS_MAX: i64 = 3;

pub(crate) struct House {
    pub(crate) database: TestDatabase,
    pub(crate) admin: Client,
    pub(crate) publisher: Publisher,
    folder: PathBuf,
}

/// An export and the one file that an attempt of it wrote.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) export: ExportId,
    pub(crate) candidate: CandidateId,
    pub(crate) key: String,
}

impl House {
    pub(crate) async fn new() -> Self {
        let database = TestDatabase::fresh().await;
        let admin = database.admin().await;
        let (tenant, account) =
            (TenantId::from_uuid(Uuid::now_v7()), ServiceAccountId::from_uuid(Uuid::now_v7()));
        let made = format!(
            "INSERT INTO export.tenants (tenant_id, name) VALUES ('{tenant}', 'a');
             INSERT INTO export.service_accounts (service_account_id, tenant_id, name) VALUES ('{account}', '{tenant}', 'b');
             INSERT INTO export.dataset_revisions (dataset, revision, declaration, columns, applied_by)
             VALUES ('orders', 1, '{{}}', '[]', 'a test')"
        );
        admin.batch_execute(&made).await.expect("a tenant");
        let publisher = Publisher::new("urn:waybill:test", "test.").expect("source and prefix are fine");
        let folder = std::env::temp_dir().join(format!("waybill-collector-{}", Uuid::new_v4().simple()));
        Self { database, admin, publisher, folder }
    }

    pub(crate) fn pool(&self) -> Pool {
        let config = self.database.role_url("reconciler").parse().expect("the testkit's address is one");
        Pool::builder(Manager::new(config, NoTls)).max_size(4).build().expect("no timeouts are set")
    }

    pub(crate) fn objects(&self) -> Objects {
        let url = format!("file://{}", self.folder.display());
        Place::parse(&url, []).and_then(|place| place.to_write()).expect("a directory can be made")
    }

    pub(crate) fn file(&self, key: &str) -> PathBuf {
        self.folder.join(key)
    }

    /// Writes a file into the store, as if an upload had.
    pub(crate) fn write(&self, key: &str) {
        let file = self.file(key);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("it is made");
        std::fs::write(file, "id\n1\n").expect("it is written");
    }

    /// An export in this state whose one attempt, in that state, wrote a candidate in a third one, just now.
    pub(crate) async fn export(&self, job: &str, attempt: &str, candidate: &str) -> Made {
        let export = ExportId::from_uuid(Uuid::now_v7());
        let made = CandidateId::from_uuid(Uuid::now_v7());
        let key = format!("exports/ten/{export}/1-{}", Uuid::new_v4().simple());
        self.admin
            .execute(
                "INSERT INTO export.jobs (
                     export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, state, version, fence,
                     due_at, lease_until, remind_at, failure_code, finished_at
                 )
                 SELECT $1, tenant_id, service_account_id, 'orders', 1, 'csv', '{id}', 'pending', 2, 1, now(), NULL, now(),
                     NULL, NULL
                 FROM export.service_accounts",
                &[&export.as_str()],
            )
            .await
            .expect("a job");
        self.admin
            .execute(
                "INSERT INTO export.attempts (export_id, fence, number, worker, state, ended_at)
                 VALUES ($1, 1, 1, 'w', $2, CASE WHEN $2 <> 'running' THEN now() END)",
                &[&export.as_str(), &attempt],
            )
            .await
            .expect("an attempt");
        self.admin
            .execute(
                "INSERT INTO export.candidates (
                     candidate_id, export_id, fence, object_key, state, rows, bytes, sha256, verified_at, condemned_at,
                     condemned_because
                 )
                 SELECT $1, $2, 1, $3, $4, 1, 5, sha256('x'), now(), marked.at,
                     CASE WHEN marked.at IS NOT NULL THEN 'attempt-over' END
                 FROM (SELECT CASE WHEN $4 = 'condemned' THEN now() END AS at) AS marked",
                &[&made.as_str(), &export.as_str(), &key, &candidate],
            )
            .await
            .expect("a candidate");
        let outcome = format!(
            "UPDATE export.jobs SET
                 state = '{job}',
                 due_at = CASE WHEN '{job}' = 'pending' THEN now() END,
                 lease_until = CASE WHEN '{job}' = 'running' THEN now() END,
                 remind_at = CASE WHEN '{job}' IN ('pending', 'running') THEN now() END,
                 finished_at = CASE WHEN '{job}' NOT IN ('pending', 'running', 'quarantined') THEN now() END,
                 failure_code = CASE WHEN '{job}' = 'failed' THEN 'x' END,
                 result_candidate_id = CASE WHEN '{candidate}' = 'selected' THEN '{made}' END
             WHERE export_id = '{export}'"
        );
        self.admin.batch_execute(&outcome).await.expect("an outcome");
        self.write(&key);
        Made { export, candidate: made, key }
    }

    /// A succeeded export whose result's time is over since so many seconds; not yet, where they are negative.
    pub(crate) async fn result(&self, over_since_seconds: i32) -> Made {
        let made = self.export("succeeded", "succeeded", "selected").await;
        let over = "UPDATE export.jobs SET expires_at = now() - make_interval(secs => $2::integer) WHERE export_id = $1";
        self.admin.execute(over, &[&made.export.as_str(), &over_since_seconds]).await.expect("a time");
        made
    }

    /// Lets all times of a candidate be so many hours longer ago.
    pub(crate) async fn age(&self, made: &Made, hours: i32) {
        let aged = "UPDATE export.candidates SET created_at = created_at - make_interval(hours => $2::integer),
                        condemned_at = condemned_at - make_interval(hours => $2::integer) WHERE candidate_id = $1";
        self.admin.execute(aged, &[&made.candidate.as_str(), &hours]).await.expect("aged");
    }

    pub(crate) async fn expire(&self) -> usize {
        let answer = expire(&self.pool(), &self.publisher, EXPORTS_MAX, &CancellationToken::new()).await;
        answer.expect("a round")
    }

    pub(crate) async fn collect(&self) -> Collected {
        self.try_collect().await.expect("a round")
    }

    pub(crate) async fn try_collect(&self) -> Result<Collected, RoundError> {
        collect(&self.pool(), &self.objects(), PATIENCE, &CancellationToken::new()).await
    }

    /// The candidate's state, and why it was condemned.
    pub(crate) async fn candidate(&self, made: &Made) -> String {
        let sql =
            "SELECT concat_ws(' ', state, condemned_because) FROM export.candidates WHERE candidate_id = $1";
        self.admin.query_one(sql, &[&made.candidate.as_str()]).await.expect("the candidate").get(0)
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.admin.query_one(sql, &[]).await.expect("an answer").get(0)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // What stays behind lies in the machine's folder for what may go.
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}
