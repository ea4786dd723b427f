//! A notifier without the settings of a channel: what asks for it waits, visibly, and nothing is lost.

use tokio::net::TcpListener;
use waybill_domain::export::Channel;
use waybill_notifier::{Channels, Watch};
use waybill_runtime::{Health, Role};
use waybill_testkit::{TestDatabase, within};

use crate::fixtures::{AMPLE, mail_channel, mail_server, pace, pool, webhook_sender};
use crate::receiver::{receive, status};
use crate::sending::{settled, start};
use crate::smtp_server::{Script, serve};
use crate::stored::make;

#[tokio::test]
async fn what_asks_for_a_missing_channel_waits_until_a_notifier_has_it() {
    let database = TestDatabase::fresh().await;
    let (pool, admin) = (pool(&database), database.admin().await);
    let mail = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = mail.local_addr().unwrap();
    // The webhook is due before the mail, so a claim that could take it would.
    make(&pool, Channel::Email, "ann@example.com", 2).await;
    admin
        .execute(
            "UPDATE notify.notifications SET channel = 'webhook', due_at = now() - interval '1 hour', target = $1 \
             WHERE event_id = 'evt_0'",
            &[&format!("http://{}/hook", hook.local_addr().unwrap())],
        )
        .await
        .unwrap();
    let without = Channels { email: Some(mail_server(address)), webhook: None };
    let running = start(&pool, without, AMPLE);
    let (stream, _) = within("the mail", mail.accept()).await.unwrap();
    serve(stream, Script::ACCEPTING).await;
    assert_eq!(settled(&database).await.0, "accepted");
    running.stop().await;
    let row = admin
        .query_one("SELECT state, attempts FROM notify.notifications WHERE channel = 'webhook'", &[])
        .await
        .unwrap();
    assert_eq!((row.get::<_, &str>(0), row.get::<_, i32>(1)), ("pending", 0));
    let running = start(&pool, mail_channel(address), AMPLE);
    let (stream, _) = within("the webhook", hook.accept()).await.unwrap();
    receive(stream, status(200, "")).await.unwrap();
    running.stop().await;
    let row = admin
        .query_one("SELECT count(*) FROM notify.notifications WHERE state = 'accepted'", &[])
        .await
        .unwrap();
    assert_eq!(row.get::<_, i64>(0), 2);
}

#[tokio::test]
async fn health_is_degraded_while_something_due_asks_for_a_missing_channel() {
    let database = TestDatabase::fresh().await;
    let (pool, admin) = (pool(&database), database.admin().await);
    let health = Health::new(Role::Notifier);
    let without = Channels { email: None, webhook: Some(webhook_sender(true)) };
    let missing: Vec<Channel> = without.missing().collect();
    assert_eq!(missing, [Channel::Email]);
    let watch = Watch::new(pool.clone(), health.clone(), missing, pace(AMPLE).poll_interval);
    watch.look().await.unwrap();
    assert!(health.report().reasons.is_empty(), "a channel that nobody asks for is not missed");
    make(&pool, Channel::Email, "ann@example.com", 3).await;
    watch.look().await.unwrap();
    let report = health.report();
    assert_eq!(report.status, "degraded");
    assert_eq!(report.reasons[0].code, "notification-channel-not-configured");
    assert_eq!(report.reasons[0].component, "channel email");
    assert!(report.reasons[0].detail.starts_with("3 due"), "{}", report.reasons[0].detail);
    admin.execute("UPDATE notify.notifications SET due_at = now() + interval '1 hour'", &[]).await.unwrap();
    watch.look().await.unwrap();
    assert!(health.report().reasons.is_empty(), "nothing of it is due");
}
