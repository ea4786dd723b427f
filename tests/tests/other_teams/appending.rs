//! Three ways to append, with one verdict.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sqlx::Connection as _;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, GenericClient, Row};
use waybill_outbox::{
    AppendError, EVENT_BYTES_MAX, Event, HEADER_NAME_BYTES_MAX, HEADERS_MAX, codes, record_bytes,
};

use crate::fixtures::{SCHEMA, Team, WRITER, event, outbox};

type Headers = Vec<(String, Option<Vec<u8>>)>;

const APPEND: &str = "SELECT shop_outbox.outbox_append($1, $2, $3, $4, $5, $6)";
const ORDER: &str = "INSERT INTO shop.orders (order_id, customer, cents) VALUES ($1, 'Ada', 1)";

/// Appends as any other language does.
async fn append_in_sql(tx: &impl GenericClient, event: &Event<'_>) -> Result<Row, tokio_postgres::Error> {
    let names: Vec<&str> = event.headers.iter().map(|(name, _)| name.as_str()).collect();
    let values: Vec<Option<&[u8]>> = event.headers.iter().map(|(_, value)| value.as_deref()).collect();
    tx.query_one(APPEND, &[&event.topic, &event.key, &event.event_id, &names, &values, &event.payload]).await
}

/// A message of the database that begins with a code, and its hint.
fn refusal(error: &tokio_postgres::Error, code: &str, state: &SqlState) -> String {
    let refused = error.as_db_error().unwrap_or_else(|| panic!("{error:?}"));
    assert_eq!(refused.code(), state, "{refused:?}");
    assert!(refused.message().starts_with(&format!("{code}: ")), "{refused:?}");
    refused.hint().expect("a hint").to_owned()
}

/// Takes the seventh of twelve events, as a team's forgotten trigger would.
async fn swallow_the_seventh(team: &Team) {
    team.run(&format!(
        "CREATE FUNCTION shop.swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TRIGGER swallow BEFORE INSERT ON {SCHEMA}.events
         FOR EACH ROW WHEN (NEW.event_id = 'order_7') EXECUTE FUNCTION shop.swallow()"
    ))
    .await;
}

/// Eleven orders with their events, and neither the seventh order nor its event.
async fn all_but_the_seventh(team: &Team) {
    assert_eq!(team.count("shop.orders").await, 11);
    assert_eq!(team.count(&format!("{SCHEMA}.events JOIN shop.orders ON order_id = event_id")).await, 11);
    assert_eq!(team.count(&format!("{SCHEMA}.events")).await, 11);
}

#[tokio::test]
async fn a_trigger_that_swallows_one_row_of_twelve_fails_its_writer_and_loses_no_event_in_rust() {
    let team = Team::with_outbox().await;
    swallow_the_seventh(&team).await;
    let mut writer = team.writer().await;
    for n in 1..=12 {
        let order_id = format!("order_{n}");
        let tx = writer.transaction().await.expect("begun");
        tx.execute(ORDER, &[&order_id]).await.expect("an order");
        match outbox().append(&tx, &event("shop.orders", &order_id, &order_id)).await {
            Ok(_) => tx.commit().await.expect("committed"),
            Err(error) => {
                assert_eq!((n, error.code()), (7, Some(codes::OUTBOX_ROW_SWALLOWED)), "{error}");
            }
        }
    }
    all_but_the_seventh(&team).await;
}

#[tokio::test]
async fn a_trigger_that_swallows_one_row_of_twelve_fails_its_writer_and_loses_no_event_in_sqlx() {
    let team = Team::with_outbox().await;
    swallow_the_seventh(&team).await;
    let mut writer = sqlx::PgConnection::connect(&team.database.role_url("api")).await.expect("connected");
    for n in 1..=12 {
        let order_id = format!("order_{n}");
        let mut tx = writer.begin().await.expect("begun");
        sqlx::query(ORDER).bind(&order_id).execute(&mut *tx).await.expect("an order");
        match outbox().append_sqlx(&mut tx, &event("shop.orders", &order_id, &order_id)).await {
            Ok(_) => tx.commit().await.expect("committed"),
            Err(error) => {
                assert_eq!((n, error.code()), (7, Some(codes::OUTBOX_ROW_SWALLOWED)), "{error}");
                tx.rollback().await.expect("rolled back");
            }
        }
    }
    all_but_the_seventh(&team).await;
}

#[tokio::test]
async fn a_trigger_that_swallows_one_row_of_twelve_fails_its_writer_and_loses_no_event_in_sql() {
    let team = Team::with_outbox().await;
    swallow_the_seventh(&team).await;
    let mut writer = team.writer().await;
    for n in 1..=12 {
        let order_id = format!("order_{n}");
        let tx = writer.transaction().await.expect("begun");
        tx.execute(ORDER, &[&order_id]).await.expect("an order");
        match append_in_sql(&tx, &event("shop.orders", &order_id, &order_id)).await {
            Ok(_) => tx.commit().await.expect("committed"),
            Err(error) => {
                assert_eq!(n, 7);
                let state = SqlState::TRIGGERED_DATA_CHANGE_VIOLATION;
                refusal(&error, codes::OUTBOX_ROW_SWALLOWED, &state);
            }
        }
    }
    all_but_the_seventh(&team).await;
}

#[tokio::test]
async fn every_way_stores_the_same_row() {
    let team = Team::with_outbox().await;
    let headers: Headers = vec![
        ("ce_id".to_owned(), Some(b"1".to_vec())),
        ("empty".to_owned(), Some(Vec::new())),
        ("nothing".to_owned(), None),
        ("ce_id".to_owned(), Some(vec![0, 255])),
    ];
    let events = [
        Event { topic: "t", key: Some(&[0, 255]), event_id: "e", headers: &headers, payload: Some(&[1]) },
        Event { topic: "t", key: Some(&[]), event_id: "e", headers: &[], payload: Some(&[]) },
        Event { topic: "t", key: None, event_id: "e", headers: &[], payload: None },
    ];
    let writer = team.writer().await;
    let mut sqlx = sqlx::PgConnection::connect(&team.database.role_url("api")).await.expect("connected");
    for event in &events {
        outbox().append(&writer, event).await.expect("appended");
        outbox().append_sqlx(&mut sqlx, event).await.expect("appended");
        append_in_sql(&writer, event).await.expect("appended");
        let distinct = format!(
            "(SELECT DISTINCT topic, key, event_id, header_names, header_values, payload FROM {SCHEMA}.events
              ORDER BY 1) AS rows"
        );
        assert_eq!(team.count(&distinct).await, 1, "{event:?}");
        team.run(&format!("TRUNCATE {SCHEMA}.events")).await;
    }
}

#[tokio::test]
async fn a_writer_who_may_only_execute_the_function_can_append_and_do_nothing_else() {
    let team = Team::with_outbox().await;
    team.run(&format!("REVOKE ALL ON {SCHEMA}.events FROM {WRITER}")).await;
    let writer = team.writer().await;
    append_in_sql(&writer, &event("t", "k", "e")).await.expect("appended");
    for statement in ["SELECT * FROM", "DELETE FROM", "TRUNCATE"] {
        let refused = writer.batch_execute(&format!("{statement} {SCHEMA}.events")).await;
        assert_eq!(refused.expect_err(statement).code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE));
    }
    let stranger = team.database.role("stats").await;
    let refused = append_in_sql(&stranger, &event("t", "k", "e")).await;
    assert_eq!(refused.expect_err("no grant").code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE));
}

#[tokio::test]
async fn a_refusal_in_sql_names_its_page_and_says_what_would_be_accepted() {
    let team = Team::with_outbox().await;
    let writer = team.writer().await;
    let payload = vec![0; EVENT_BYTES_MAX];
    for (wrong, bound) in [
        (Event { topic: "no/topic", ..event("", "k", "e") }, "249"),
        (Event { event_id: "", ..event("t", "k", "") }, "an id"),
        (Event { headers: &[("line\nbreak".to_owned(), None)], ..event("t", "k", "e") }, "255"),
        (Event { payload: Some(&payload), ..event("t", "k", "e") }, "1000000"),
    ] {
        let refused = append_in_sql(&writer, &wrong).await.expect_err("refused");
        let hint = refusal(&refused, codes::OUTBOX_EVENT_REFUSED, &SqlState::INVALID_PARAMETER_VALUE);
        assert!(hint.contains(bound), "{hint}");
    }
    let unpaired = format!("SELECT {SCHEMA}.outbox_append('t', NULL, 'e', '{{a,b}}', '{{x}}', NULL)");
    let refused = writer.batch_execute(&unpaired).await.expect_err("refused");
    refusal(&refused, codes::OUTBOX_EVENT_REFUSED, &SqlState::INVALID_PARAMETER_VALUE);
}

/// Texts on both sides of what a name may be.
fn header_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z-]{1,12}",
        "\\PC{1,4}",
        prop::sample::select(vec!["", "\u{1}", "\u{7f}", "a\u{85}", "a\u{9f}b", "\u{a0}", "\u{2028}", "\t"])
            .prop_map(str::to_owned),
        (HEADER_NAME_BYTES_MAX - 2..HEADER_NAME_BYTES_MAX + 2).prop_map(|bytes| "n".repeat(bytes)),
        (HEADER_NAME_BYTES_MAX / 2 - 1..HEADER_NAME_BYTES_MAX / 2 + 2).prop_map(|chars| "ü".repeat(chars)),
    ]
}

fn topic() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => Just("shop.orders".to_owned()),
        1 => (248_usize..251).prop_map(|chars| "t".repeat(chars)),
        1 => prop::sample::select(vec!["", ".", "..", "...", "a b", "ü", "a\n", "\na", "a/b", "ſ", "K"])
            .prop_map(str::to_owned),
    ]
}

/// What an event is made of; the payload is as long as to miss the limit by so many bytes.
fn parts() -> impl Strategy<Value = (String, Option<Vec<u8>>, String, Headers, Option<i64>)> {
    let value = prop::option::of(prop::collection::vec(any::<u8>(), 0..20));
    let headers = prop_oneof![
        9 => prop::collection::vec((header_name(), value.clone()), 0..4),
        1 => prop::collection::vec(("[a-z]{1,3}", value), HEADERS_MAX - 1..HEADERS_MAX + 2),
    ];
    let event_id = prop_oneof![9 => "[ -~]{1,8}", 1 => Just(String::new())];
    let key = prop::option::of(prop::collection::vec(any::<u8>(), 0..40));
    (topic(), key, event_id, headers, prop::option::of(-2_i64..3))
}

async fn same_verdict(writer: &mut Client, event: &Event<'_>) -> Result<(), TestCaseError> {
    let tx = writer.transaction().await.expect("begun");
    let in_rust = outbox().append(&tx, event).await;
    let in_sql = append_in_sql(&tx, event).await;
    tx.rollback().await.expect("rolled back");
    match (in_rust, in_sql) {
        (Ok(_), Ok(_)) => Ok(()),
        (Err(AppendError::Database(error)), _) => Err(TestCaseError::fail(format!("{event:?}: {error:?}"))),
        (Err(refused), Err(error)) if refused.code() == Some(codes::OUTBOX_EVENT_REFUSED) => {
            refusal(&error, codes::OUTBOX_EVENT_REFUSED, &SqlState::INVALID_PARAMETER_VALUE);
            Ok(())
        }
        (in_rust, in_sql) => {
            let headers: Vec<_> = event.headers.iter().map(|(name, _)| name).collect();
            let bytes = record_bytes(event);
            Err(TestCaseError::fail(format!(
                "topic {:?}, headers {headers:?}, {bytes} bytes: {in_rust:?} in Rust, {in_sql:?} in SQL",
                event.topic
            )))
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_and_sql_refuse_the_same_events() {
    let team = Team::with_outbox().await;
    let mut writer = team.writer().await;
    let runtime = tokio::runtime::Handle::current();
    let compared = tokio::task::spawn_blocking(move || {
        let mut runner =
            TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
        let writer = std::cell::RefCell::new(&mut writer);
        let outcome = runner.run(&parts(), |(topic, key, event_id, headers, beyond)| {
            let bare = Event {
                topic: &topic,
                key: key.as_deref(),
                event_id: &event_id,
                headers: &headers,
                payload: None,
            };
            let room = i64::try_from(EVENT_BYTES_MAX - record_bytes(&bare)).expect("small");
            let payload = beyond.map(|bytes| vec![0; usize::try_from(room + bytes).expect("positive")]);
            let event = Event { payload: payload.as_deref(), ..bare };
            runtime.block_on(same_verdict(&mut writer.borrow_mut(), &event))
        });
        outcome.map_err(|error| error.to_string())
    });
    if let Err(error) = compared.await.expect("no panic") {
        panic!("{error}");
    }
}
