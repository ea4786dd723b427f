//! A tenant's exports in pages.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio_postgres::Client;
use waybill_testkit::{Answer, Caller, Process, System};

struct Scene {
    system: System,
    admin: Client,
    operator: Caller,
    caller: Caller,
    _api: Process,
}

async fn scene() -> Scene {
    let system = System::fresh().await;
    let (api, operator, caller) = system.called().await;
    let admin = system.database.admin().await;
    Scene { system, admin, operator, caller, _api: api }
}

impl Scene {
    /// The ids of a page, and what the next one is after.
    async fn page(&self, query: &str) -> (Vec<String>, Option<String>) {
        let page = self.caller.get(&format!("/v1/exports?{query}")).await.success();
        (ids(&page), page["next"].as_str().map(str::to_owned))
    }

    async fn found(&self, query: &str) -> Vec<String> {
        self.page(query).await.0
    }
}

fn ids(page: &Value) -> Vec<String> {
    let exports = page["exports"].as_array().expect("a list");
    exports.iter().map(|export| export["export_id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn every_export_stands_on_exactly_one_page_though_others_are_accepted_between_the_pages() {
    let scene = scene().await;
    let intents: Vec<String> = (0..25).map(|number| format!("intent-{number}")).collect();
    let there: BTreeSet<String> =
        join_all(intents.iter().map(|intent| scene.caller.export(intent))).await.into_iter().collect();
    // Several of one and the same time: only their ids are in an order.
    scene
        .admin
        .execute(
            "UPDATE export.jobs SET accepted_at = (SELECT min(accepted_at) FROM export.jobs)
        WHERE export_id IN (SELECT export_id FROM export.jobs LIMIT 12)",
            &[],
        )
        .await
        .expect("one time");

    let (mut seen, mut after, mut pages) = (Vec::new(), None, 0);
    loop {
        let query = after.map_or_else(|| "limit=4".to_owned(), |after| format!("limit=4&after={after}"));
        let (page, next) = scene.page(&query).await;
        seen.extend(page);
        pages += 1;
        scene.caller.export(&format!("meanwhile-{pages}")).await;
        let Some(next) = next else { break };
        after = Some(next);
    }

    let listed: BTreeSet<String> = seen.iter().cloned().collect();
    assert_eq!(seen.len(), listed.len(), "none stands on two pages");
    assert_eq!(listed, there, "all that were there, and none that came after the first page");
    assert_eq!(pages, 7);
}

#[tokio::test]
async fn an_export_whose_acceptance_took_longer_than_the_next_ones_is_on_no_page_twice() {
    let scene = scene().await;
    let first = scene.caller.export("intent-1").await;
    let newest = scene.caller.export("intent-2").await;
    let (page, next) = scene.page("limit=1").await;
    assert_eq!(page, std::slice::from_ref(&newest));
    // It began before the newest, and is committed only now: behind the page that was read.
    let late = scene.caller.export("intent-3").await;
    let between = "UPDATE export.jobs SET accepted_at = (
            SELECT accepted_at - interval '1 microsecond' FROM export.jobs WHERE export_id = $2
        ) WHERE export_id = $1";
    scene.admin.execute(between, &[&late, &newest]).await.expect("it began earlier");

    let rest = scene.found(&format!("after={}", next.expect("a next page"))).await;

    assert_eq!(rest, [late, first]);
}

#[tokio::test]
async fn filters_find_what_they_say_and_nothing_of_another_tenant() {
    let scene = scene().await;
    let other = scene.system.tenant(&scene.operator, "another").await;
    let theirs = json!({ "dataset": "orders", "name": "Q4", "labels": { "quarter": "4" } });
    other.ask("intent-1", &theirs).await.success();
    let ours = json!({ "dataset": "orders", "name": "Q4", "labels": { "quarter": "4", "note": "a=b&c" } });
    let named = waybill_testkit::id_of(&scene.caller.ask("intent-1", &ours).await.success());
    let plain = scene.caller.export("intent-2").await;
    scene.caller.post_bare(&format!("/v1/exports/{plain}/cancel"), None).await.success();
    let accepted =
        "UPDATE export.jobs SET accepted_at = timestamptz '2026-01-31 12:00Z' WHERE export_id = $1";
    scene.admin.execute(accepted, &[&named]).await.expect("a time");
    let failed =
        "UPDATE export.jobs SET state = 'failed', failure_code = 'x', due_at = NULL, remind_at = NULL,
        finished_at = now() WHERE export_id = $1";
    scene.admin.execute(failed, &[&named]).await.expect("it failed");
    let retried = scene.caller.post_bare(&format!("/v1/exports/{named}/retry"), Some("intent-3")).await;
    let retried = waybill_testkit::id_of(&retried.success());

    assert_eq!(scene.found("").await, [retried.clone(), plain.clone(), named.clone()], "newest first");
    for (query, wanted) in [
        ("name=Q4", vec![&retried, &named]),
        ("label=quarter%3D4&state=failed", vec![&named]),
        ("label=note%3Da%3Db%26c", vec![&retried, &named]),
        ("label=quarter%3D5", vec![]),
        ("state=cancelled", vec![&plain]),
        ("dataset=refunds", vec![]),
        ("accepted_before=2026-01-31T13:00:00%2B01:00", vec![]),
        ("accepted_from=2026-01-31T13:00:00%2B01:00&accepted_before=2026-01-31T12:00:01Z", vec![&named]),
        ("retry_of=RETRIED", vec![&retried]),
    ] {
        let found = scene.found(&query.replace("RETRIED", &named)).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{query}");
    }
}

#[tokio::test]
async fn what_is_no_filter_and_no_cursor_is_refused_by_name() {
    let scene = scene().await;
    let field = |answer: &Answer| answer.json()["errors"][0]["field"].as_str().unwrap_or_default().to_owned();
    for (query, name) in [
        ("state=gone", "state"),
        ("label=quarter", "label"),
        ("accepted_from=yesterday", "accepted_from"),
        ("after=abc", "after"),
        ("limit=1001", "limit"),
        ("retry_of=exp_1", "retry_of"),
        ("name=%00", "query"),
        ("status=failed", "query"),
    ] {
        let refused = scene.caller.get(&format!("/v1/exports?{query}")).await;
        assert_eq!((refused.status.as_u16(), field(&refused).as_str()), (400, name), "{query}");
    }
}
