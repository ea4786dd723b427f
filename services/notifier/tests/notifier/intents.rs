//! Which facts make notifications, and that none does twice.

use std::sync::Arc;

use deadpool_postgres::Pool;
use tokio::sync::Notify;
use waybill_consumer::{Batch, Delivery};
use waybill_contract::Fact;
use waybill_domain::export::Channel;
use waybill_notifier::Intents;
use waybill_subscription::FactEffect as _;
use waybill_testkit::TestDatabase;

use crate::fixtures::{pool, succeeded};

const TOPIC: &str = "waybill.export.events";

fn effect() -> Intents {
    Intents::new(Arc::new(Notify::new()))
}

/// Applies facts at offsets from `first_offset` in one committed transaction.
async fn apply(pool: &Pool, topic_id: &str, first_offset: i64, facts: &[Fact]) {
    let deliveries: Vec<Delivery<Fact>> = (first_offset..)
        .zip(facts)
        .map(|(offset, fact)| Delivery { offset, timestamp_ms: None, event: fact.clone() })
        .collect();
    let next_offset = first_offset + i64::try_from(facts.len()).expect("a small batch");
    let batch = Batch {
        group: "waybill.notifier",
        topic: TOPIC,
        topic_id,
        partition: 0,
        next_offset,
        events: deliveries.iter().collect(),
    };
    let mut client = pool.get().await.expect("a connection");
    let tx = client.transaction().await.expect("a transaction");
    effect().apply(&tx, &batch).await.expect("the batch is applied");
    tx.commit().await.expect("the transaction commits");
}

async fn count(database: &TestDatabase) -> i64 {
    let row = database.admin().await.query_one("SELECT count(*) FROM notify.notifications", &[]).await;
    row.expect("a count").get(0)
}

async fn high_water(database: &TestDatabase) -> i64 {
    let row = database.admin().await.query_one("SELECT max(next_offset) FROM notify.high_water", &[]).await;
    row.expect("a mark").get(0)
}

fn mail(target: &str) -> (Channel, String) {
    (Channel::Email, target.to_owned())
}

fn hook(target: &str) -> (Channel, String) {
    (Channel::Webhook, target.to_owned())
}

#[tokio::test]
async fn each_target_of_an_outcome_gets_one_notification_with_its_content() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let targets = [mail("ann@example.com"), hook("https://example.com/hook")];
    apply(&pool, "t1", 0, &[succeeded("evt_1", &targets)]).await;
    let rows = database
        .admin()
        .await
        .query(
            "SELECT channel, subject IS NOT NULL, body, state, attempts FROM notify.notifications \
             ORDER BY channel",
            &[],
        )
        .await
        .unwrap();
    assert_eq!(rows.len(), 2);
    let (channel, has_subject): (&str, bool) = (rows[0].get(0), rows[0].get(1));
    assert_eq!((channel, has_subject), ("email", true));
    let (channel, has_subject, body): (&str, bool, &str) = (rows[1].get(0), rows[1].get(1), rows[1].get(2));
    assert_eq!((channel, has_subject), ("webhook", false));
    assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
    for row in &rows {
        assert_eq!((row.get::<_, &str>(3), row.get::<_, i32>(4)), ("pending", 0));
    }
}

#[tokio::test]
async fn the_same_fact_further_on_in_the_log_makes_nothing_new() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let fact = succeeded("evt_1", &[mail("ann@example.com"), mail("ann@example.com")]);
    apply(&pool, "t1", 0, std::slice::from_ref(&fact)).await;
    apply(&pool, "t1", 1, &[fact]).await;
    assert_eq!(count(&database).await, 1);
    assert_eq!(high_water(&database).await, 2);
}

#[tokio::test]
async fn a_position_that_is_moved_back_makes_nothing_not_even_for_new_targets() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    apply(&pool, "t1", 0, &[succeeded("evt_1", &[]), succeeded("evt_2", &[mail("ann@example.com")])]).await;
    assert_eq!(count(&database).await, 1);
    let replayed =
        [succeeded("evt_1", &[mail("new@example.com")]), succeeded("evt_2", &[mail("new@example.com")])];
    apply(&pool, "t1", 0, &replayed).await;
    assert_eq!(count(&database).await, 1, "nothing below the mark tells anybody");
    assert_eq!(high_water(&database).await, 2, "the mark stands");
    apply(&pool, "t1", 1, &[replayed[1].clone(), succeeded("evt_3", &[mail("new@example.com")])]).await;
    assert_eq!(count(&database).await, 2, "what lies at the mark is told, what lies below it is not");
}

#[tokio::test]
async fn the_mark_cannot_be_lowered_by_any_statement_of_the_role() {
    let database = TestDatabase::fresh().await;
    apply(&pool(&database), "t1", 0, &[succeeded("evt_1", &[])]).await;
    let lowered =
        database.role("notifier").await.execute("UPDATE notify.high_water SET next_offset = 0", &[]).await;
    assert!(lowered.unwrap_err().as_db_error().unwrap().message().contains("never lowered"));
    let deleted = database.role("notifier").await.execute("DELETE FROM notify.high_water", &[]).await;
    assert!(deleted.is_err(), "nor can it be taken away");
    assert_eq!(high_water(&database).await, 1);
}

#[tokio::test]
async fn a_transaction_that_rolls_back_leaves_neither_a_notification_nor_a_mark() {
    let database = TestDatabase::fresh().await;
    let pool = pool(&database);
    let delivery =
        Delivery { offset: 0, timestamp_ms: None, event: succeeded("evt_1", &[mail("ann@example.com")]) };
    let batch = Batch {
        group: "waybill.notifier",
        topic: TOPIC,
        topic_id: "t1",
        partition: 0,
        next_offset: 1,
        events: vec![&delivery],
    };
    let mut client = pool.get().await.unwrap();
    let tx = client.transaction().await.unwrap();
    effect().apply(&tx, &batch).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(count(&database).await, 0);
    apply(&pool, "t1", 0, std::slice::from_ref(&delivery.event)).await;
    assert_eq!(count(&database).await, 1);
}
