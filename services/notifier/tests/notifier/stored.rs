//! The rows of attempts: each write is conditional, is made twice, and is made by who comes too late.

use std::time::Duration;

use deadpool_postgres::Pool;
use serde_json::json;
use tokio_postgres::types::{ToSql, Type};
use waybill_domain::export::Channel;
use waybill_domain::ids::{ExportId, NotificationId, TenantId};
use waybill_notifier::Watch;
use waybill_runtime::{Health, Role};
use waybill_store::notification::{self, AttemptEnd, Claimed, NewNotification};
use waybill_testkit::{Plan, TestDatabase};

use crate::fixtures::{AMPLE, pool};

pub(crate) async fn make(pool: &Pool, channel: Channel, target: &str, count: u128) {
    let new: Vec<NewNotification> = (0..count)
        .map(|number| {
            let id = uuid::Uuid::from_u128(number + 1);
            NewNotification {
                notification_id: NotificationId::from_uuid(id),
                source: "urn:waybill:exports".to_owned(),
                event_id: format!("evt_{number}"),
                channel,
                target: target.to_owned(),
                kind: "outcome",
                tenant_id: TenantId::from_uuid(id),
                export_id: ExportId::from_uuid(id),
                subject: (channel == Channel::Email).then(|| "subject".to_owned()),
                body: "{}".to_owned(),
            }
        })
        .collect();
    let client = pool.get().await.expect("a connection");
    let made = notification::insert_all(&**client, &new).await.expect("an insert");
    assert_eq!(u128::from(made), count);
}

async fn claim(pool: &Pool, sender: &str, deadline: Duration) -> Vec<Claimed> {
    let client = pool.get().await.expect("a connection");
    let free = Channel::ALL.map(|channel| (channel, 10));
    notification::claim_due(&**client, sender, &free, deadline).await.expect("a claim")
}

/// A passing failure of the notification itself.
fn own(delay: Duration) -> AttemptEnd {
    AttemptEnd::Retry { delay, own: true }
}

async fn record(pool: &Pool, claimed: &Claimed, end: AttemptEnd) -> bool {
    let client = pool.get().await.expect("a connection");
    let evidence = json!({ "detail": "test" });
    notification::record_outcome(&**client, &claimed.notification_id, claimed.attempt, end, &evidence)
        .await
        .expect("an update")
}

/// State of the notification, state of its newest attempt, number of attempts.
pub(crate) async fn states(database: &TestDatabase) -> (String, String, i64) {
    let row = database
        .admin()
        .await
        .query_one(
            "SELECT n.state, a.state, (SELECT count(*) FROM notify.attempts) FROM notify.notifications n \
             JOIN notify.attempts a ON a.notification_id = n.notification_id AND a.attempt = n.attempts",
            &[],
        )
        .await
        .expect("one notification with an attempt");
    (row.get(0), row.get(1), row.get(2))
}

fn watch(pool: &Pool, health: &Health) -> Watch {
    Watch::new(pool.clone(), health.clone(), Vec::new(), AMPLE).with_grace(Duration::ZERO)
}

#[tokio::test]
async fn two_senders_never_take_the_same_notification() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    make(&pool, Channel::Webhook, "http://example.com/", 10).await;
    let (one, other) = tokio::join!(claim(&pool, "a/1", AMPLE), claim(&pool, "b/1", AMPLE));
    let mut taken: Vec<&str> =
        one.iter().chain(&other).map(|claimed| claimed.notification_id.as_str()).collect();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!((taken.len(), one.len() + other.len()), (10, 10));
    assert!(claim(&pool, "c/1", AMPLE).await.is_empty(), "what is sending is not due");
}

#[tokio::test]
async fn an_outcome_is_recorded_once_and_the_second_changes_nothing() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let claimed = claim(&pool, "a/1", AMPLE).await.remove(0);
    assert!(record(&pool, &claimed, AttemptEnd::Accepted).await);
    assert!(!record(&pool, &claimed, AttemptEnd::Accepted).await);
    assert!(!record(&pool, &claimed, own(Duration::ZERO)).await);
    assert_eq!(states(&database).await, ("accepted".to_owned(), "accepted".to_owned(), 1));
}

#[tokio::test]
async fn a_retry_makes_the_notification_due_after_its_delay() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let claimed = claim(&pool, "a/1", AMPLE).await.remove(0);
    assert!(record(&pool, &claimed, own(AMPLE)).await);
    assert_eq!(states(&database).await, ("pending".to_owned(), "retry".to_owned(), 1));
    assert!(claim(&pool, "a/2", AMPLE).await.is_empty(), "not due yet");
    let admin = database.admin().await;
    admin.execute("UPDATE notify.notifications SET due_at = now()", &[]).await.unwrap();
    let again = claim(&pool, "a/3", AMPLE).await.remove(0);
    assert_eq!((again.attempt, again.notification_id.clone()), (2, claimed.notification_id.clone()));
    assert!(!record(&pool, &claimed, AttemptEnd::Accepted).await, "the first attempt is over");
    assert_eq!(states(&database).await, ("sending".to_owned(), "sending".to_owned(), 2));
}

#[tokio::test]
async fn a_claim_takes_of_each_channel_what_there_is_a_place_for_and_nothing_else() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    make(&pool, Channel::Email, "ann@example.com", 3).await;
    let client = pool.get().await.unwrap();
    let webhooks = [(Channel::Webhook, 10)];
    assert!(notification::claim_due(&**client, "a/1", &webhooks, AMPLE).await.unwrap().is_empty());
    let both = [(Channel::Webhook, 10), (Channel::Email, 2)];
    assert_eq!(notification::claim_due(&**client, "a/2", &both, AMPLE).await.unwrap().len(), 2);
    assert!(notification::claim_due(&**client, "a/3", &[], AMPLE).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_claim_knows_the_notifications_own_failures_and_since_when_it_is_tried() {
    let database = TestDatabase::fresh().await;
    let (pool, admin) = (pool(&database), database.admin().await);
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let first = claim(&pool, "a/1", AMPLE).await.remove(0);
    assert_eq!((first.failures, first.tried_for), (0, Duration::ZERO));
    assert!(record(&pool, &first, AttemptEnd::Retry { delay: Duration::ZERO, own: false }).await);
    admin
        .execute("UPDATE notify.attempts SET started_at = started_at - interval '9 hours'", &[])
        .await
        .unwrap();
    let second = claim(&pool, "a/2", AMPLE).await.remove(0);
    assert_eq!((second.attempt, second.failures), (2, 0), "the channel's failure is not its own");
    assert!(second.tried_for >= Duration::from_secs(9 * 3_600), "{:?}", second.tried_for);
    assert!(record(&pool, &second, own(Duration::ZERO)).await);
    assert_eq!(claim(&pool, "a/3", AMPLE).await.remove(0).failures, 1);
}

#[tokio::test]
async fn what_is_found_in_sending_after_its_deadline_is_unknown_and_is_not_sent_again() {
    let database = TestDatabase::fresh().await;
    let (pool, health) = (pool(&database), Health::new(Role::Notifier));
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    let claimed = claim(&pool, "a/1", Duration::ZERO).await.remove(0);
    let observed = watch(&pool, &health).look().await.unwrap();
    assert_eq!((observed.sending, observed.unknown, observed.pending), (0, 1, 0));
    assert_eq!(health.report().reasons[0].code, "notification-outcome-unknown");
    assert!(claim(&pool, "b/1", AMPLE).await.is_empty(), "nothing is due");
    assert!(!record(&pool, &claimed, AttemptEnd::Accepted).await, "the zombie changes nothing");
    watch(&pool, &health).look().await.unwrap();
    assert_eq!(states(&database).await, ("unknown".to_owned(), "unknown".to_owned(), 1));
}

#[tokio::test]
async fn an_attempt_before_its_deadline_is_left_alone_by_the_sweeper() {
    let database = TestDatabase::fresh().await;
    let (pool, health) = (pool(&database), Health::new(Role::Notifier));
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    claim(&pool, "a/1", AMPLE).await;
    let observed = watch(&pool, &health).look().await.unwrap();
    assert_eq!((observed.sending, observed.unknown), (1, 0));
    assert!(health.report().reasons.is_empty());
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_due_again_and_no_other_one_is() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    claim(&pool, "a/1", AMPLE).await;
    let client = pool.get().await.unwrap();
    let evidence = json!({ "detail": "the claim had no answer" });
    assert_eq!(notification::return_unsent(&**client, "a/2", &evidence).await.unwrap(), 0);
    assert_eq!(notification::return_unsent(&**client, "a/1", &evidence).await.unwrap(), 1);
    assert_eq!(notification::return_unsent(&**client, "a/1", &evidence).await.unwrap(), 0);
    assert_eq!(claim(&pool, "a/3", AMPLE).await.len(), 1);
}

#[tokio::test]
async fn what_is_due_and_what_is_unknown_are_found_by_their_indexes() {
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    admin
        .batch_execute(
            "INSERT INTO notify.notifications (notification_id, source, event_id, channel, target, kind, tenant_id, \
             export_id, body, state, settled_at) SELECT 'ntf_' || md5(n::text), 's', n::text, 'email', 't', 'outcome', \
             't', 'e', '', 'accepted', now() FROM generate_series(1, 20000) n; ANALYZE notify.notifications",
        )
        .await
        .unwrap();
    let (channels, free, deadline_ms) = (["email", "webhook"].as_slice(), [8_i64, 8].as_slice(), 1_000_i64);
    let claim: [(&(dyn ToSql + Sync), Type); 4] = [
        (&"a/1", Type::TEXT),
        (&channels, Type::TEXT_ARRAY),
        (&free, Type::INT8_ARRAY),
        (&deadline_ms, Type::INT8),
    ];
    let statement = include_str!("../../../../crates/store/src/notification/claim_due.sql");
    Plan::of(&admin, statement, &claim).await.must_use(&["notifications_due", "notifications_pkey"], &[]);
    let statement = include_str!("../../../../crates/store/src/notification/observe.sql");
    let observed = Plan::of(&admin, statement, &[]).await;
    observed.must_use(&["notifications_due", "notifications_unknown"], &["attempts"]);
    let statement = include_str!("../../../../crates/store/src/notification/count_due.sql");
    let counted = Plan::of(&admin, statement, &[(&channels, Type::TEXT_ARRAY)]).await;
    counted.must_use(&["notifications_due"], &[]);
}
