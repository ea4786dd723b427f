//! The whole role on a real topic: a fact goes in, a mail and a webhook come out, and a replay brings nothing.

use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use waybill_contract::{Fact, Schemas};
use waybill_domain::export::Channel;
use waybill_notifier::{Error, GROUP};
use waybill_runtime::{Config, Context, Health, Role};
use waybill_testkit::{Settings, TestDatabase, TestTopics, eventually, kafka_bootstrap, produce, within};

use crate::fixtures::succeeded;
use crate::receiver::{receive, status};
use crate::smtp_server::{Script, serve};

const EVENTS: &str = "waybill.export.events";

struct House {
    database: TestDatabase,
    topics: TestTopics,
    topic: String,
    mail: TcpListener,
    hook: TcpListener,
}

impl House {
    async fn fresh() -> Self {
        let (database, topics) = (TestDatabase::fresh().await, TestTopics::fresh());
        let topic = topics.create(EVENTS, 1).await;
        let settings = vec![("bootstrap.servers".to_owned(), kafka_bootstrap())];
        let topic_id = waybill_consumer::topic_id(&settings, &topic, waybill_testkit::WAIT_MAX)
            .await
            .expect("Kafka answers")
            .expect("the topic is there");
        let group = format!("{}{GROUP}", topics.prefix());
        let admin = database.admin().await;
        admin.batch_execute("SET search_path = notify").await.expect("a search path");
        waybill_consumer::bind_topic(&admin, &group, &topic, &topic_id).await.expect("a binding");
        let mail = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let hook = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        Self { database, topics, topic, mail, hook }
    }

    fn start(&self) -> (CancellationToken, JoinHandle<Result<(), Error>>) {
        let port = self.mail.local_addr().expect("an address").port();
        let settings = Settings::on_database(&self.database)
            .topic_prefix(self.topics.prefix())
            .set("notifier.smtp.host", "127.0.0.1")
            .set("notifier.smtp.port", i64::from(port))
            .set("notifier.webhook.signing_secret", "a master secret for tests")
            .set("notifier.webhook.allow_private_networks", true);
        let config =
            Config::from_sources(Path::new("test"), &settings.to_toml(), []).expect("a configuration");
        let shutdown = CancellationToken::new();
        let health = Health::new(Role::Notifier);
        let context = Context::new(Arc::new(config), Role::Notifier, &health, shutdown.clone());
        let running = tokio::spawn(waybill_notifier::run(context.expect("a context")));
        (shutdown, running)
    }

    async fn publish(&self, fact: &Fact) {
        let message = fact.encode(&Schemas::embedded().expect("schemas")).expect("a record");
        let headers: Vec<(&str, Option<&[u8]>)> =
            message.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        produce(&self.topic, 0, Some(&message.key), &headers, Some(&message.payload)).await;
    }

    /// Waits until the stored position has come to `offset`.
    async fn passed(&self, offset: i64) {
        let admin = self.database.admin().await;
        eventually("the position", || async {
            let row =
                admin.query_opt("SELECT 1 FROM notify.positions WHERE next_offset = $1", &[&offset]).await;
            row.expect("a look")
        })
        .await;
    }

    async fn count(&self, what: &str) -> i64 {
        let admin = self.database.admin().await;
        let row = admin.query_one(&format!("SELECT count(*) FROM notify.{what}"), &[]).await;
        row.expect("a count").get(0)
    }
}

#[tokio::test]
async fn a_fact_tells_each_target_once_and_a_position_moved_back_tells_nobody() {
    let house = House::fresh().await;
    let hook = format!("http://{}/hook", house.hook.local_addr().unwrap());
    let targets = [(Channel::Email, "ann@example.com".to_owned()), (Channel::Webhook, hook)];
    let (shutdown, running) = house.start();
    house.publish(&succeeded("evt_1", &targets)).await;
    let (stream, _) = within("the mail", house.mail.accept()).await.unwrap();
    assert!(serve(stream, Script::ACCEPTING).await.message.unwrap().contains("Your export has succeeded."));
    let (stream, _) = within("the webhook", house.hook.accept()).await.unwrap();
    let seen = receive(stream, status(200, "")).await.unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&seen.body).unwrap()["data"]["event_id"], "evt_1");
    house.passed(1).await;
    shutdown.cancel();
    within("the role's end", running).await.unwrap().unwrap();
    // By hand: back to the beginning, and the inbox emptied, so that only the mark stands in the way.
    let admin = house.database.admin().await;
    admin
        .batch_execute("UPDATE notify.positions SET next_offset = 0; DELETE FROM notify.inbox")
        .await
        .unwrap();
    // Also the rows are gone, so that not even the identity would stop a second mail.
    admin.batch_execute("DELETE FROM notify.attempts; DELETE FROM notify.notifications").await.unwrap();
    let (shutdown, running) = house.start();
    house.passed(1).await;
    house.publish(&succeeded("evt_2", &targets[..1])).await;
    let (stream, _) = within("the mail of the new fact", house.mail.accept()).await.unwrap();
    serve(stream, Script::ACCEPTING).await;
    house.passed(2).await;
    shutdown.cancel();
    within("the role's end", running).await.unwrap().unwrap();
    assert_eq!(house.count("notifications").await, 1, "only the new fact's");
    assert_eq!(house.count("attempts WHERE state = 'accepted'").await, 1);
}
