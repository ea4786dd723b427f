//! A database with one accepted export, and what was published about it.

use jiff::Timestamp;
use waybill_domain::ids::{CandidateId, ExportId};
use waybill_store::job::{self, Job};
use waybill_testkit::TestDatabase;

pub(crate) const SOURCE: &str = "urn:waybill:test";

const EXPORT: &str = "exp_00000000000000000000000000000001";

const ACCEPTED: &str = "
    INSERT INTO export.tenants (tenant_id, name) VALUES ('ten_00000000000000000000000000000001', 'acme');
    INSERT INTO export.service_accounts (service_account_id, tenant_id, name)
    VALUES ('sva_00000000000000000000000000000001', 'ten_00000000000000000000000000000001', 'billing');
    INSERT INTO export.dataset_revisions (dataset, revision, declaration, columns, applied_by)
    VALUES ('orders', 1, '{}', '[]', 'a test');
    INSERT INTO export.jobs (
        export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, name, labels, notify,
        state, version, due_at, remind_at, accepted_at
    )
    VALUES (
        'exp_00000000000000000000000000000001', 'ten_00000000000000000000000000000001',
        'sva_00000000000000000000000000000001', 'orders', 1, 'csv', '{order_id}', '三月訂單', '{\"team\": \"sales\"}',
        '[{\"channel\": \"email\", \"target\": \"ops@example.com\"}]',
        'pending', 1, now(), now(), '2026-03-01T12:00:00.123456Z'
    );";

/// One row of the outbox.
#[derive(Debug, PartialEq)]
pub(crate) struct OutboxRow {
    pub(crate) seq: i64,
    pub(crate) topic: String,
    pub(crate) key: Vec<u8>,
    pub(crate) event_id: String,
    header_names: Vec<String>,
    header_values: Vec<Option<Vec<u8>>>,
    pub(crate) payload: Vec<u8>,
}

impl OutboxRow {
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        self.header_names
            .iter()
            .zip(&self.header_values)
            .map(|(name, value)| (name.as_str(), value.as_deref()))
    }
}

pub(crate) struct House {
    pub(crate) database: TestDatabase,
    pub(crate) accepted_at: Timestamp,
}

impl House {
    pub(crate) async fn new() -> Self {
        let database = TestDatabase::fresh().await;
        database.admin().await.batch_execute(ACCEPTED).await.unwrap();
        Self { database, accepted_at: "2026-03-01T12:00:00.123456Z".parse().unwrap() }
    }

    pub(crate) async fn job(&self) -> Job {
        let export_id = ExportId::parse(EXPORT).unwrap();
        job::lock(&self.database.admin().await, &export_id).await.unwrap().unwrap()
    }

    pub(crate) fn candidate_id(&self, n: u8) -> CandidateId {
        CandidateId::parse(&format!("can_{n:032x}")).unwrap()
    }

    pub(crate) async fn outbox(&self) -> Vec<OutboxRow> {
        let statement = "SELECT seq, topic, key, event_id, header_names, header_values, payload \
                         FROM outbox.events ORDER BY seq";
        let rows = self.database.admin().await.query(statement, &[]).await.unwrap();
        rows.iter()
            .map(|row| OutboxRow {
                seq: row.get(0),
                topic: row.get(1),
                key: row.get(2),
                event_id: row.get(3),
                header_names: row.get(4),
                header_values: row.get(5),
                payload: row.get(6),
            })
            .collect()
    }

    /// (version, event id, type, seq)
    pub(crate) async fn facts(&self) -> Vec<(i64, String, String, i64)> {
        let statement = "SELECT version, event_id, type, outbox_seq FROM export.facts ORDER BY version";
        let rows = self.database.admin().await.query(statement, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect()
    }

    /// (command id, reason, seq)
    pub(crate) async fn commands(&self) -> Vec<(String, String, i64)> {
        let statement = "SELECT command_id, reason, outbox_seq FROM export.commands ORDER BY outbox_seq";
        let rows = self.database.admin().await.query(statement, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
    }
}
