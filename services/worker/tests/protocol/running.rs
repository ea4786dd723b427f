//! The whole worker, on a real Kafka.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use waybill_contract::{CommandReason, ExportCommand, Schemas};
use waybill_domain::ids::{ExportId, TenantId};
use waybill_runtime::{Config, Context, Health, Role};
use waybill_testkit::{Settings, TestTopics, eventually, produce, within};

use crate::house::{House, ORDERS};

struct Running {
    topics: TestTopics,
    topic: String,
    shutdown: CancellationToken,
    health: Health,
    worker: JoinHandle<Result<(), waybill_worker::Error>>,
}

/// Runs a worker whose own timer looks once at its start and then not before the test is over.
async fn run(house: &House) -> Running {
    let topics = TestTopics::fresh();
    let topic = topics.create("waybill.export.commands", 1).await;
    let settings = Settings::on_database(&house.database)
        .topic_prefix(topics.prefix())
        .set("object_store.url", house.objects_url())
        .set("worker.poll_interval_ms", 3_600_000)
        .set("reconciler.remind_after_ms", 7_200_000);
    let config = Config::from_sources(Path::new("test"), &settings.to_toml(), []).expect("a configuration");
    let health = Health::new(Role::Worker);
    let shutdown = CancellationToken::new();
    let context = Context::new(Arc::new(config), Role::Worker, &health, shutdown.clone()).expect("a context");
    let id = waybill_consumer::topic_id(&context.kafka_settings(), &topic, Duration::from_secs(30)).await;
    let id = id.expect("Kafka answers").expect("the topic is there");
    house.admin.batch_execute("SET search_path = export").await.expect("set");
    let group = context.group(waybill_worker::CONSUMER_GROUP);
    waybill_consumer::bind_topic(&house.admin, &group, &topic, &id).await.expect("bound");
    let worker = tokio::spawn(waybill_worker::run(context));
    Running { topics, topic, shutdown, health, worker }
}

impl Running {
    async fn command(&self, export: &ExportId, tenant: &TenantId) {
        let command = ExportCommand {
            command_id: format!("cmd_{}", uuid::Uuid::now_v7().simple()),
            source: "urn:waybill:test".to_owned(),
            time: Timestamp::now(),
            export_id: export.clone(),
            tenant_id: tenant.clone(),
            reason: CommandReason::Accepted,
        };
        let message = command.encode(&Schemas::embedded().expect("schemas")).expect("a command");
        let headers: Vec<_> =
            message.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        produce(&self.topic, 0, Some(&message.key), &headers, Some(&message.payload)).await;
    }

    async fn end(self) {
        self.shutdown.cancel();
        within("the worker ends", self.worker).await.expect("no panic").expect("no error");
        drop(self.topics);
    }
}

async fn position(house: &House) -> Option<i64> {
    let row =
        house.admin.query_opt("SELECT next_offset FROM export.positions", &[]).await.expect("an answer");
    row.map(|row| row.get(0))
}

async fn succeeded(house: &House, export: &ExportId) {
    eventually("the export succeeds", async || {
        house.story(export).await.starts_with("succeeded").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_wakes_the_worker_and_freed_slots_take_the_rest_of_the_backlog() {
    let house = House::new().await;
    let tenant = house.tenant(1).await;
    let running = run(&house).await;
    eventually("the consumer stands at the start", async || position(&house).await).await;
    house.orders(&tenant, 20).await;
    let mut exports = Vec::new();
    for age in 0..5 {
        exports.push(house.job(&tenant, age).await);
    }
    running.command(&exports[0], &tenant).await;
    for export in &exports {
        succeeded(&house, export).await;
    }
    eventually("the position moves", async || position(&house).await.filter(|offset| *offset == 1)).await;
    running.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_command_is_parked_and_the_next_one_is_heard() {
    let house = House::new().await;
    let tenant = house.tenant(1).await;
    let running = run(&house).await;
    eventually("the consumer stands at the start", async || position(&house).await).await;
    let export = house.job(&tenant, 0).await;
    produce(&running.topic, 0, Some(b"key"), &[], Some(b"nonsense")).await;
    running.command(&export, &tenant).await;
    succeeded(&house, &export).await;
    let parked = house.admin.query_one("SELECT record_offset, reason FROM export.parked", &[]).await;
    assert_eq!(parked.expect("one row").get::<_, i64>(0), 0);
    running.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_abandons_what_outlasts_its_grace_and_the_job_is_due_again() {
    let house = House::new().await;
    let tenant = house.tenant(1).await;
    let export = house.job(&tenant, 0).await;
    // Not a lock: an attempt waits for one no longer than its own lock_timeout, and would end before the grace does.
    let endless = "CREATE VIEW shop.endless_orders AS
         SELECT orders.* FROM (SELECT pg_sleep(3600)) AS endless, shop.orders;
         GRANT SELECT ON shop.endless_orders TO waybill_worker;";
    house.admin.batch_execute(endless).await.expect("no attempt reads to the end");
    house.apply(2, &ORDERS.replace("shop.orders", "shop.endless_orders")).await;
    house
        .admin
        .execute("UPDATE export.jobs SET dataset_revision = 2", &[])
        .await
        .expect("it is read from there");
    house.orders(&tenant, 1).await;
    let running = run(&house).await;
    eventually("it is claimed", async || house.story(&export).await.starts_with("running").then_some(()))
        .await;
    let health = running.health.clone();
    running.end().await;
    assert_eq!(health.report().reasons, []);
    let story = house.story(&export).await;
    let handed_back = story.starts_with("pending v1 f1 lost 0 failed 0");
    assert!(handed_back && story.contains("1:failed:worker-stopped"), "{story}");
}
