//! A projection's role on a database and a topic of a test's own.
//!
//! Both projections are the same around their effect, so both include this file.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::task::JoinHandle;
use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use waybill_contract::{ExportSnapshot, Fact, Schemas};
use waybill_domain::ids::{CandidateId, ExportId, ServiceAccountId, TenantId};
use waybill_domain::job::{FactKind, JobState};
use waybill_runtime::{Config, Context, Health, Role};
use waybill_subscription::Error;
use waybill_testkit::{Settings, TestDatabase, TestTopics, eventually, kafka_bootstrap, produce, within};

const EVENTS: &str = "waybill.export.events";

pub(crate) struct House {
    role: Role,
    pub(crate) database: TestDatabase,
    topics: TestTopics,
    topic: String,
    schemas: Schemas,
}

/// The role while it runs.
pub(crate) struct Running {
    shutdown: CancellationToken,
    role: JoinHandle<Result<(), Error>>,
}

impl Running {
    pub(crate) async fn end(self) {
        self.shutdown.cancel();
        within("the role's end", self.role).await.unwrap().unwrap();
    }
}

impl House {
    /// For one of the roles that project facts into a schema of their own name.
    pub(crate) async fn fresh(role: Role) -> Self {
        let (database, topics) = (TestDatabase::fresh().await, TestTopics::fresh());
        let topic = topics.create(EVENTS, 1).await;
        let settings = vec![("bootstrap.servers".to_owned(), kafka_bootstrap())];
        let topic_id =
            waybill_consumer::topic_id(&settings, &topic, waybill_testkit::WAIT_MAX).await.unwrap().unwrap();
        let house = Self { role, database, topics, topic, schemas: Schemas::embedded().unwrap() };
        let group = format!("{}waybill.{role}.g1", house.topics.prefix());
        waybill_consumer::bind_topic(&house.admin().await, &group, &house.topic, &topic_id).await.unwrap();
        house
    }

    /// Somebody who may read and change everything, in the role's schema.
    async fn admin(&self) -> Client {
        let admin = self.database.admin().await;
        admin.batch_execute(&format!("SET search_path = {}", self.role)).await.unwrap();
        admin
    }

    /// Starts the role, whose `run` this is.
    pub(crate) fn start<Ended>(&self, run: impl FnOnce(Context) -> Ended) -> Running
    where
        Ended: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let settings = Settings::on_database(&self.database).topic_prefix(self.topics.prefix());
        let config = Config::from_sources(Path::new("test"), &settings.to_toml(), []).unwrap();
        let (shutdown, health) = (CancellationToken::new(), Health::new(self.role));
        let context = Context::new(Arc::new(config), self.role, &health, shutdown.clone()).unwrap();
        Running { shutdown, role: tokio::spawn(run(context)) }
    }

    /// Publishes facts in this order, as the relay does.
    pub(crate) async fn publish(&self, facts: &[Fact]) {
        for fact in facts {
            let message = fact.encode(&self.schemas).unwrap();
            let headers: Vec<(&str, Option<&[u8]>)> =
                message.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
            produce(&self.topic, 0, Some(&message.key), &headers, Some(&message.payload)).await;
        }
    }

    /// A record that is no fact.
    pub(crate) async fn publish_rubbish(&self) {
        produce(&self.topic, 0, Some(b"exp_x"), &[("ce_id", Some(b"evt_x"))], Some(b"rubbish")).await;
    }

    /// Waits until the stored position has come to `offset`.
    pub(crate) async fn passed(&self, offset: i64) {
        let admin = self.admin().await;
        eventually("the position", || async {
            admin.query_opt("SELECT 1 FROM positions WHERE next_offset = $1", &[&offset]).await.unwrap()
        })
        .await;
    }

    /// Moves the position back by hand.
    pub(crate) async fn rewind(&self) {
        let admin = self.admin().await;
        admin.execute("UPDATE positions SET next_offset = 0", &[]).await.unwrap();
    }

    pub(crate) async fn parked(&self) -> i64 {
        let admin = self.admin().await;
        admin.query_one("SELECT count(*) FROM parked", &[]).await.unwrap().get(0)
    }
}

pub(crate) fn tenant(number: u128) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(number))
}

pub(crate) fn export(number: u128) -> ExportId {
    ExportId::from_uuid(Uuid::from_u128(number))
}

/// A fact about export `number` of tenant 1, as the contract wants it.
pub(crate) fn fact(number: u128, version: i64, kind: FactKind) -> Fact {
    let at = Timestamp::from_second(1_800_000_000).unwrap();
    let succeeded = kind == FactKind::Succeeded;
    let state = match kind {
        FactKind::Requested => JobState::Pending,
        FactKind::Succeeded => JobState::Succeeded,
        FactKind::Failed => JobState::Failed,
        FactKind::Cancelled => JobState::Cancelled,
        FactKind::Expired => JobState::Expired,
        FactKind::Deleted => JobState::Deleted,
    };
    Fact {
        event_id: format!("evt_{:032x}", number * 1_000 + u128::try_from(version).unwrap()),
        source: "urn:waybill:exports".into(),
        kind,
        time: at,
        export: ExportSnapshot {
            export_id: export(number),
            tenant_id: tenant(1),
            service_account_id: ServiceAccountId::from_uuid(Uuid::from_u128(2)),
            version,
            state,
            dataset: "orders".into(),
            format: "csv".into(),
            name: Some("華東區訂單月報".into()),
            labels: BTreeMap::from([("team".into(), "Finance".into())]),
            notify: Vec::new(),
            fence: i64::from(succeeded),
            rows: succeeded.then_some(200),
            bytes: succeeded.then_some(4_000),
            sha256: succeeded.then(|| "ab".repeat(32)),
            result_id: succeeded.then(|| CandidateId::from_uuid(Uuid::from_u128(number))),
            failure_code: (kind == FactKind::Failed).then(|| "dataset-unavailable".into()),
            failure_detail: None,
            accepted_at: at,
            finished_at: (kind != FactKind::Requested).then_some(at),
        },
    }
}
