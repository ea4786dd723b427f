//! The fixtures do what they promise, on real servers.

use waybill_testkit::{
    ROLES, TestDatabase, TestTopic, TestTopics, connect, postgres_url, produce, read_to_end,
};

#[tokio::test]
async fn a_fresh_database_is_migrated_and_every_role_can_log_in() {
    let database = TestDatabase::fresh().await;
    for role in ROLES {
        let client = database.role(role).await;
        let user: String = client.query_one("SELECT current_user::text", &[]).await.unwrap().get(0);
        assert_eq!(user, format!("waybill_{role}"));
    }
    let admin = database.admin().await;
    let jobs: i64 = admin.query_one("SELECT count(*) FROM export.jobs", &[]).await.unwrap().get(0);
    assert_eq!(jobs, 0);
}

#[tokio::test]
async fn a_database_is_gone_when_its_fixture_goes() {
    let database = TestDatabase::fresh().await;
    let name = database.name().to_owned();
    let _still_connected = database.admin().await;
    drop(database);
    let admin = connect(&postgres_url()).await;
    let left = admin.query("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await.unwrap();
    assert!(left.is_empty());
}

#[tokio::test]
async fn a_topic_is_read_to_its_end_with_keys_headers_and_tombstones() {
    let topic = TestTopic::fresh(2).await;
    assert_eq!(read_to_end(topic.name()).await, []);
    produce(topic.name(), 1, Some(b"k"), &[("ce_id", Some(b"evt_1")), ("empty", None)], Some(b"v")).await;
    produce(topic.name(), 1, Some(b"k"), &[], None).await;
    let records = read_to_end(topic.name()).await;
    assert_eq!(
        records.iter().map(|record| (record.partition, record.offset)).collect::<Vec<_>>(),
        [(1, 0), (1, 1)]
    );
    assert_eq!(records[0].header("ce_id"), Some("evt_1"));
    assert_eq!(records[0].headers[1], ("empty".to_owned(), None));
    assert_eq!(records[1].payload, None);
}

#[tokio::test]
async fn two_prefixes_never_meet() {
    let (one, other) = (TestTopics::fresh(), TestTopics::fresh());
    assert_ne!(one.create("events", 1).await, other.create("events", 1).await);
}
