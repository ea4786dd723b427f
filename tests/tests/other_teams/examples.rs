//! The services of `examples/`, as they stand there: from an empty database to the records in Kafka.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use waybill_testkit::{Record, TestTopics, python, within};

use crate::fixtures::{Team, delivered, said};

/// A team whose service may start, and the topic that its orders go to.
async fn shop() -> (Team, TestTopics, String) {
    let team = Team::with_outbox().await;
    let topics = TestTopics::fresh();
    let topic = topics.create("shop.orders", 3).await;
    (team, topics, topic)
}

/// The record of an order is what both examples make of one.
fn tells_of(record: &Record, order_id: &str, customer: &str, cents: i64) {
    let payload: Value = serde_json::from_slice(record.payload.as_deref().expect("a payload")).expect("JSON");
    assert_eq!(payload, json!({ "order_id": order_id, "customer": customer, "cents": cents }));
    assert_eq!(record.key.as_deref(), Some(order_id.as_bytes()));
    let names: Vec<&str> = record.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["ce_specversion", "ce_id", "ce_source", "ce_type", "content-type"]);
    assert_eq!(record.header("ce_id"), Some(order_id));
    assert_eq!(record.header("ce_type"), Some("shop.order.placed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_in_rust_places_orders_and_the_relay_tells_of_them() {
    let (team, topics, topic) = shop().await;
    let _relay = team.relay(&topics);
    let mut service = Command::new(built_beside_the_test("orders-service"))
        .env("DATABASE_URL", team.database.role_url("api"))
        .env("ORDERS_TOPIC", &topic)
        .env("LISTEN", "127.0.0.1:0")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("`cargo build -p orders-service` has built it");
    let mut lines = BufReader::new(service.stdout.take().expect("piped")).lines();
    let line = within("its address", lines.next_line()).await.expect("text").expect("a line");
    let address = line.strip_prefix("listening on ").expect("its address");

    let url = format!("http://{address}/orders");
    let client = reqwest::Client::new();
    let order = json!({ "customer": "Ada", "cents": 1250 });
    let answer = client.post(&url).json(&order).send().await.expect("an answer");
    assert_eq!(answer.status(), 201);
    let placed: Value = answer.json().await.expect("JSON");
    let order_id = placed["order_id"].as_str().expect("an id");
    tells_of(&delivered(&topic, 1).await[0], order_id, "Ada", 1250);

    let too_large = json!({ "customer": "x".repeat(1_000_000), "cents": 1 });
    let refused = client.post(&url).json(&too_large).send().await.expect("an answer");
    assert_eq!(refused.status(), 500, "the event would be too large, so there is no order either");
    assert_eq!(team.count("shop.orders").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_in_python_places_orders_and_the_relay_tells_of_them() {
    let (team, topics, topic) = shop().await;
    let _relay = team.relay(&topics);
    let requirements = std::fs::read_to_string(example("python-orders/requirements.txt"));
    let python =
        python(&requirements.expect("the requirements"), Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let order = async |topic: &str| {
        Command::new(&python)
            .arg(example("python-orders/orders.py"))
            .args(["Grace", "4200"])
            .env("DATABASE_URL", team.database.role_url("api"))
            .env("ORDERS_TOPIC", topic)
            .output()
            .await
            .expect("python starts")
    };

    let placed = order(&topic).await;
    assert!(placed.status.success(), "{}", said(&placed));
    let order_id = String::from_utf8_lossy(&placed.stdout).trim().to_owned();
    tells_of(&delivered(&topic, 1).await[0], &order_id, "Grace", 4200);

    let refused = order("no/topic").await;
    assert!(!refused.status.success());
    assert!(said(&refused).contains("outbox-event-refused"), "{}", said(&refused));
    assert_eq!(team.count("shop.orders").await, 1, "no order without its event");
}

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(path)
}

/// A test's own binary lies in `<target>/debug/deps`, the example's in `<target>/debug`.
fn built_beside_the_test(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a binary");
    test.parent().and_then(Path::parent).expect("a target folder").join(name)
}
