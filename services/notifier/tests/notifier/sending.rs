//! The sender on a real database and real sockets: what is committed before the first byte, and after the last.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use waybill_domain::export::Channel;
use waybill_notifier::{Channels, Sender};
use waybill_runtime::{Health, Role};
use waybill_testkit::{TestDatabase, eventually, within};

use crate::fixtures::{AMPLE, SHORT, mail_channel, pace, pool};
use crate::receiver::{receive, status};
use crate::smtp_server::{Script, Step, serve, serve_once};
use crate::stored::{make, states};

pub(crate) struct Running {
    shutdown: CancellationToken,
    wake: Arc<Notify>,
    pub(crate) health: Health,
    task: JoinHandle<()>,
}

pub(crate) fn start(pool: &Pool, channels: Channels, deadline: Duration) -> Running {
    let (shutdown, wake) = (CancellationToken::new(), Arc::new(Notify::new()));
    let health = Health::new(Role::Notifier);
    let sender = Sender::new(pool.clone(), channels, pace(deadline), Arc::clone(&wake), health.clone());
    let task = tokio::spawn(sender.run(shutdown.clone()));
    Running { shutdown, wake, health, task }
}

impl Running {
    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        within("the sender's end", self.task).await.expect("the sender ends");
    }
}

pub(crate) async fn settled(database: &TestDatabase) -> (String, String) {
    let admin = database.admin().await;
    eventually("the notification's outcome", || async {
        let row = admin
            .query_opt(
                "SELECT n.state, a.evidence ->> 'reason' FROM notify.notifications n \
                 JOIN notify.attempts a ON a.notification_id = n.notification_id AND a.attempt = n.attempts \
                 WHERE n.settled_at IS NOT NULL",
                &[],
            )
            .await
            .expect("a look");
        row.map(|row| (row.get(0), row.get::<_, Option<String>>(1).unwrap_or_default()))
    })
    .await
}

#[tokio::test]
async fn the_attempt_is_committed_before_the_first_byte_leaves() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let running = start(&pool, mail_channel(address), AMPLE);
    let (stream, _) = within("the connection", listener.accept()).await.unwrap();
    // Nothing has been greeted, so no byte has left the sender.
    assert_eq!(states(&database).await, ("sending".to_owned(), "sending".to_owned(), 1));
    let row =
        database.admin().await.query_one("SELECT deadline_at > started_at FROM notify.attempts", &[]).await;
    assert!(row.unwrap().get::<_, bool>(0));
    serve(stream, Script::ACCEPTING).await;
    assert_eq!(settled(&database).await, ("accepted".to_owned(), String::new()));
    running.stop().await;
}

#[tokio::test]
async fn a_mail_that_was_lost_after_its_final_dot_is_unknown_and_never_sent_again() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let running = start(&pool, mail_channel(address), AMPLE);
    let (stream, _) = within("the connection", listener.accept()).await.unwrap();
    serve(stream, Script { final_dot: Step::Close, ..Script::ACCEPTING }).await;
    let (state, reason) = settled(&database).await;
    assert_eq!((state.as_str(), reason.as_str()), ("unknown", "notification-outcome-unknown"));
    // Another notification goes the whole way through the same sender; the unknown one has not come by then.
    let admin = database.admin().await;
    admin
        .batch_execute(
            "INSERT INTO notify.notifications SELECT 'ntf_' || md5('x'), source, 'evt_other', channel, target, kind, \
             tenant_id, export_id, subject, 'the other one', 'pending', now(), 0 FROM notify.notifications",
        )
        .await
        .unwrap();
    running.wake.notify_one();
    let (stream, _) = within("the connection", listener.accept()).await.unwrap();
    let session = serve(stream, Script::ACCEPTING).await;
    assert!(session.message.unwrap().contains("the other one"));
    running.stop().await;
    let row = admin.query_one("SELECT count(*) FROM notify.attempts", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 2, "one attempt each");
}

#[tokio::test]
async fn a_passing_failure_is_tried_again_with_the_same_bytes_until_the_bound() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let running = start(&pool, mail_channel(address), AMPLE);
    let mut messages = Vec::new();
    for _ in 0..2 {
        let (stream, _) = within("the connection", listener.accept()).await.unwrap();
        let session = serve(stream, Script { final_dot: Step::Say("451 later"), ..Script::ACCEPTING }).await;
        messages.push(session.message.unwrap());
    }
    let (state, reason) = settled(&database).await;
    assert_eq!((state.as_str(), reason.as_str()), ("rejected", "notification-attempts-exhausted"));
    assert_eq!(messages[0], messages[1]);
    running.stop().await;
}

#[tokio::test]
async fn a_webhook_is_sent_again_under_the_same_id() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    make(&pool, Channel::Webhook, &format!("http://{address}/hook"), 1).await;
    let running = start(&pool, mail_channel(address), AMPLE);
    let mut ids = Vec::new();
    for answer in [status(429, ""), status(200, "")] {
        let (stream, _) = within("the connection", listener.accept()).await.unwrap();
        let seen = receive(stream, answer).await.unwrap();
        ids.push(seen.headers["webhook-id"].clone());
    }
    assert_eq!(settled(&database).await.0, "accepted");
    assert_eq!(ids[0], ids[1]);
    running.stop().await;
}

#[tokio::test]
async fn a_server_that_hangs_after_the_final_dot_is_unknown_at_the_deadline() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let (address, _serving) = serve_once(Script { final_dot: Step::Hang, ..Script::ACCEPTING }).await;
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let running = start(&pool, mail_channel(address), SHORT);
    assert_eq!(settled(&database).await.0, "unknown");
    running.stop().await;
}

#[tokio::test]
async fn a_slow_channel_takes_no_place_of_another_one() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let mail = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let places = u128::try_from(pace(AMPLE).concurrency).unwrap();
    make(&pool, Channel::Email, "ann@example.com", places * 2).await;
    let running = start(&pool, mail_channel(mail.local_addr().unwrap()), AMPLE);
    let mut silent = Vec::new();
    for _ in 0..places {
        silent.push(within("a mail's connection", mail.accept()).await.unwrap());
    }
    // Every mail's place is taken and more mails are due, earlier than the webhook.
    let target = format!("http://{}/hook", hook.local_addr().unwrap());
    database
        .admin()
        .await
        .execute(
            "UPDATE notify.notifications SET channel = 'webhook', target = $1, due_at = now() \
             WHERE notification_id = (SELECT max(notification_id) FROM notify.notifications WHERE state = 'pending')",
            &[&target],
        )
        .await
        .unwrap();
    let (stream, _) = within("the webhook", hook.accept()).await.unwrap();
    receive(stream, status(200, "")).await.unwrap();
    assert_eq!(settled(&database).await.0, "accepted");
    drop((mail, silent));
    running.stop().await;
}

#[tokio::test]
async fn a_mail_server_that_is_gone_degrades_health_until_it_is_back() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let running = start(&pool, mail_channel(address), AMPLE);
    let (stream, _) = within("the connection", listener.accept()).await.unwrap();
    serve(stream, Script { greeting: Step::Close, ..Script::ACCEPTING }).await;
    let (stream, _) = within("the second connection", listener.accept()).await.unwrap();
    let report = running.health.report();
    assert_eq!(report.reasons[0].code, "notification-channel-unreachable");
    assert_eq!(report.status, "degraded");
    serve(stream, Script::ACCEPTING).await;
    assert_eq!(settled(&database).await.0, "accepted");
    assert!(running.health.report().reasons.is_empty());
    running.stop().await;
}

#[tokio::test]
async fn a_mail_server_that_is_away_uses_up_no_attempt_of_a_mail() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let running = start(&pool, mail_channel(listener.local_addr().unwrap()), AMPLE);
    // More often than the mail may fail by itself, then once by itself, then well.
    let gone = Script { greeting: Step::Close, ..Script::ACCEPTING };
    let busy = Script { recipient: Step::Say("451 later"), ..Script::ACCEPTING };
    for script in [gone, gone, gone, gone, busy, Script::ACCEPTING] {
        let (stream, _) = within("the connection", listener.accept()).await.unwrap();
        serve(stream, script).await;
    }
    assert_eq!(settled(&database).await.0, "accepted");
    running.stop().await;
    assert_eq!(states(&database).await.2, 6);
}

#[tokio::test]
async fn a_shutdown_lets_what_is_under_way_come_to_its_end() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let running = start(&pool, mail_channel(address), AMPLE);
    let (stream, _) = within("the connection", listener.accept()).await.unwrap();
    running.shutdown.cancel();
    serve(stream, Script::ACCEPTING).await;
    running.stop().await;
    assert_eq!(states(&database).await.0, "accepted");
}
