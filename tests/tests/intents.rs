//! One intent is one export, however often and however concurrently it is sent.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::json;
use waybill_testkit::{System, id_of};

#[tokio::test]
async fn a_hundred_concurrent_requests_with_one_intent_are_one_export() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let body = json!({ "dataset": "orders" });

    let answers = join_all((0..100).map(|_| caller.ask("intent-7", &body))).await;

    let accepted = answers.iter().filter(|answer| answer.status == 202).count();
    let known = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!((accepted, known), (1, 99));
    let ids: BTreeSet<String> = answers.iter().map(|answer| id_of(&answer.json())).collect();
    assert_eq!(ids.len(), 1);
    let admin = system.database.admin().await;
    for table in ["export.jobs", "export.intents", "export.commands", "export.facts"] {
        let rows: i64 =
            admin.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await.expect("counts").get(0);
        assert_eq!(rows, 1, "{table}");
    }
    let rows: i64 = admin.query_one("SELECT count(*) FROM outbox.events", &[]).await.expect("counts").get(0);
    assert_eq!(rows, 2, "one command and one fact");
}

#[tokio::test]
async fn the_same_intent_with_other_parameters_is_refused_and_says_what_differs() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    caller.export("intent-7").await;

    let other = caller.ask("intent-7", &json!({ "dataset": "orders", "name": "another" })).await;

    assert_eq!((other.status.as_u16(), other.code().as_str()), (422, "intent-mismatch"));
    assert!(
        other.json()["detail"].as_str().is_some_and(|detail| detail.contains("name")),
        "{}",
        other.json()
    );
}

#[tokio::test]
async fn a_rotated_key_of_the_same_service_account_finds_the_same_export() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let export_id = caller.export("intent-7").await;
    let admin = system.database.admin().await;
    let account = "SELECT service_account_id FROM export.service_accounts WHERE tenant_id = $1";
    let account: String = admin.query_one(account, &[&caller.tenant_id()]).await.expect("the account").get(0);
    let wanted = json!({ "service_account_id": account, "scopes": ["exports:read", "exports:write"] });
    let key = operator.post("/v1/ops/api-keys", &wanted).await.created();

    let rotated = caller.with_key(key["api_key"].as_str().expect("a key"), Some(caller.tenant_id()));

    assert_eq!(rotated.export("intent-7").await, export_id);
}

#[tokio::test]
async fn a_request_without_an_intent_or_with_a_wrong_body_stores_nothing() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;

    let without = caller.post("/v1/exports", &json!({ "dataset": "orders" })).await;
    assert_eq!((without.status.as_u16(), without.code().as_str()), (400, "idempotency-key-required"));
    for body in
        [json!({}), json!({ "dataset": "nothing" }), json!({ "dataset": "orders", "columns": ["secret"] })]
    {
        let wrong = caller.ask("intent-8", &body).await;
        assert!(wrong.status.is_client_error(), "{body}: {}", wrong.json());
        assert!(!wrong.code().is_empty(), "{body}: {}", wrong.json());
    }
    let admin = system.database.admin().await;
    let rows: i64 = admin.query_one("SELECT count(*) FROM export.intents", &[]).await.expect("counts").get(0);
    assert_eq!(rows, 0);
}
