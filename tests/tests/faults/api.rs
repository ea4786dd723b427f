//! Row 2: the api dies between its commit and its reply.

use serde_json::json;
use waybill_testkit::{System, base_url, id_of};

use crate::aftermath::{Aftermath, facts_are_in_order, occurrences, the_file_is_right};

#[tokio::test]
async fn an_api_killed_after_its_commit_and_before_its_reply_has_accepted_the_export_once() {
    let system = System::fresh().await;
    let steady = system.start(&["api"]);
    let operator = system.operator(&steady).await;
    let caller = system.tenant(&operator, "a tenant").await;

    let dying = system.start_at(&["api"], "api.committed");
    let unlucky = caller.at(base_url(&dying).await);
    let body = json!({ "dataset": "orders" });
    let (answered, ()) = tokio::join!(unlucky.ask_in_vain("intent-7", &body), async {
        dying.wait_stopped().await;
        dying.kill().await;
    });
    assert!(answered.is_err(), "the caller was answered by a process that died before it answered");

    let again = caller.ask("intent-7", &body).await;
    assert_eq!(again.status, 200, "the resend meets the export that was accepted: {}", again.json());
    let export_id = id_of(&again.json());

    let rest = system.start(&["relay", "worker", "search", "stats", "reconciler"]);
    assert_eq!(caller.settled(&export_id).await["state"], "succeeded", "{}", rest.log().tail());
    let after = Aftermath::of(&system, &export_id).await;
    after.downstreams_are_done().await;
    after.is_whole().await;
    assert_eq!(
        after.count("SELECT count(*) FROM export.jobs WHERE $1 <> ''").await,
        1,
        "one intent, one job"
    );
    assert_eq!(occurrences(&system, "waybill.export.commands", &export_id).await.len(), 1);
    facts_are_in_order(&system, &after).await;
    the_file_is_right(&caller, &export_id).await;
}
