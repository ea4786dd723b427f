//! One export through every role: file, search hit, counters, webhook and timeline.

use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use waybill_testkit::{ROWS_OF_TENANT, System, eventually, id_of, read_to_end, within};

/// A receiver of webhooks that answers 200 and passes on what it got.
async fn receiver() -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("its address");
    let (received, inbox) = mpsc::unbounded_channel();
    let received = Arc::new(received);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let received = Arc::clone(&received);
            tokio::spawn(async move { received.send(request(stream).await) });
        }
    });
    (format!("http://{address}/hook"), inbox)
}

/// One whole request, answered with 200.
async fn request(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        let read = stream.read(&mut buffer).await.expect("the sender stays until it is answered");
        text.extend_from_slice(&buffer[..read]);
        let so_far = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = so_far.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                .await
                .expect("the answer is taken");
            return so_far;
        }
    }
}

fn step<'a>(timeline: &'a Value, name: &str) -> &'a Value {
    let steps = timeline["steps"].as_array().unwrap_or_else(|| panic!("no steps in {timeline}"));
    steps.iter().find(|step| step["step"] == name).unwrap_or_else(|| panic!("no step {name} in {timeline}"))
}

#[tokio::test]
async fn an_export_reaches_its_file_and_every_downstream_and_its_timeline_is_whole() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let house = system.start(&["relay", "worker", "search", "stats", "notifier", "reconciler"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let (hook, mut inbox) = receiver().await;
    let body = json!({
        "dataset": "orders", "name": "第三季 訂單報表", "labels": { "team": "finance" },
        "columns": ["order_id", "note", "amount"], "notify": [{ "channel": "webhook", "target": hook }],
    });
    let export_id = id_of(&caller.ask("intent-7", &body).await.success());

    let export = caller.settled(&export_id).await;
    assert_eq!(export["state"], "succeeded", "{}", house.log().tail());
    assert_eq!(export["result"]["rows"], ROWS_OF_TENANT);

    let file = caller.get(&format!("/v1/exports/{export_id}/content")).await;
    assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
    let digest: String = Sha256::digest(&file.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(export["result"]["sha256"], digest);
    assert_eq!(export["result"]["bytes"], file.bytes.len());
    let mut reader = csv::Reader::from_reader(file.bytes.as_slice());
    assert_eq!(reader.headers().expect("a header"), vec!["order_id", "note", "amount"]);
    let second = reader.records().nth(1).expect("a second row").expect("valid CSV");
    assert_eq!(&second[1], "with\r\nreturn", "line breaks arrive as they were stored");

    let told = within("the webhook", inbox.recv()).await.expect("the receiver runs");
    let told = told.to_lowercase();
    for header in ["webhook-id: ntf_", "webhook-timestamp: ", "webhook-signature: v1,"] {
        assert!(told.contains(header), "{header} is missing in {told}");
    }
    assert!(told.contains(&export_id), "{told}");

    let timeline = eventually("every step of the timeline", || async {
        let timeline = caller.get(&format!("/v1/exports/{export_id}/timeline")).await.success();
        let steps = timeline["steps"].as_array().cloned().unwrap_or_default();
        (!steps.is_empty() && steps.iter().all(|step| !step["at"].is_null())).then_some(timeline)
    })
    .await;
    for name in [
        "accepted",
        "command-acknowledged",
        "claimed",
        "candidate-verified",
        "result-selected",
        "fact-acknowledged",
        "search-applied",
        "stats-applied",
        "notified",
    ] {
        assert!(!step(&timeline, name)["since_accepted_ms"].is_null(), "{name} in {timeline}");
    }

    for query in ["%E8%A8%82%E5%96%AE", "finance", "%E5%A0%B1%E8%A1%A8"] {
        let hits = caller.get(&format!("/v1/search?q={query}")).await.success();
        assert_eq!(hits["exports"][0]["export_id"], export_id.as_str(), "{query}: {hits}");
    }
    let nothing = caller.get("/v1/search?q=%E5%A4%A9%E6%B0%A3").await.success();
    assert_eq!(nothing["exports"], json!([]), "two characters that stand nowhere find nothing");
    let stats = caller.get("/v1/stats").await.success().to_string();
    assert!(stats.contains(&format!("\"rows\":{ROWS_OF_TENANT}")), "{stats}");
}

#[tokio::test]
async fn an_export_of_a_data_set_that_is_gone_fails_with_a_reason_and_its_fact_says_so() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    system
        .database
        .admin()
        .await
        .batch_execute("DROP TABLE source.orders")
        .await
        .expect("the table is dropped");
    let _house = system.start(&["relay", "worker", "search", "stats", "reconciler"]);

    let export_id = caller.export("intent-7").await;
    let export = caller.settled(&export_id).await;

    assert_eq!(export["state"], "failed");
    assert_eq!(export["failure"]["code"], "dataset-relation-missing");
    let content = caller.get(&format!("/v1/exports/{export_id}/content")).await;
    assert_eq!((content.status.as_u16(), content.code().as_str()), (409, "export-not-ready"));
    let found = eventually("search to know that it failed", || async {
        let hits = caller.get("/v1/search?q=orders").await.success();
        (hits["exports"][0]["state"] == "failed").then_some(hits)
    });
    assert_eq!(found.await["exports"][0]["export_id"], export_id.as_str());
    let facts = read_to_end(&system.topic("waybill.export.events")).await;
    let types: Vec<&str> = facts.iter().filter_map(|fact| fact.header("ce_type")).collect();
    assert_eq!(types, ["waybill.export.requested", "waybill.export.failed"]);
}

#[tokio::test]
async fn every_role_ends_within_its_time_on_sigterm() {
    let system = System::fresh().await;
    let house = system.start(&["api", "relay", "worker", "search", "stats", "notifier", "reconciler"]);
    house.listening("api").await;
    assert_eq!(house.terminate().await, waybill_testkit::Status::Exited(0), "{}", house.log().tail());
}
