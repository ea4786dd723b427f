//! Rows 26 and 47: a consumer dies between its commit and Kafka's offset.

use waybill_testkit::{System, committed_offset, eventually, within};

use crate::aftermath::{Aftermath, facts_are_in_order, the_file_is_right};

/// Where a consumer stands by its own account.
struct Stored {
    group: String,
    topic: String,
    partition: i32,
    next_offset: i64,
}

/// The one position that had moved when the process stopped.
async fn stored_position(after: &Aftermath, schema: &str, role: &str) -> Stored {
    let sql = format!(
        "SELECT consumer_group, topic, partition, next_offset FROM {schema}.positions
         WHERE next_offset > 0 AND consumer_group LIKE '%waybill.{role}%' ORDER BY updated_at LIMIT 1"
    );
    let row = after.admin.query_opt(&sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let row = row.expect("the position was committed with the effect");
    Stored { group: row.get(0), topic: row.get(1), partition: row.get(2), next_offset: row.get(3) }
}

/// Kills one role at that point while an export goes through, lets another one go on, and checks the whole. `effect`
/// counts what the first fact left, because the next one would hide that it is missing; a wake-up leaves nothing.
async fn killed_between_commit_and_offset(role: &str, schema: &str, effect: Option<&str>) {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let others: Vec<&str> =
        ["worker", "search", "stats"].into_iter().filter(|other| *other != role).collect();
    let house = system.start(&[&["relay", "reconciler"], others.as_slice()].concat());
    let dying = system.start_at(&[role], "consumer.committed");
    let export_id = caller.export("intent-7").await;

    dying.wait_stopped().await;
    let after = Aftermath::of(&system, &export_id).await;
    let stored = stored_position(&after, schema, role).await;
    if let Some(effect) = effect {
        assert_eq!(after.count(effect).await, 1, "the effect was committed with the position");
    }
    let kafkas = committed_offset(&stored.group, &stored.topic, stored.partition).await;
    assert!(
        kafkas.is_none_or(|offset| offset < stored.next_offset),
        "Kafka's offset followed before the fault"
    );
    dying.kill().await;

    let second = system.start(&[role]);
    let begun = within(
        "the partition's next holder",
        second.log().event(|event| {
            let is_it = event.message() == "partition started"
                && event.number("partition") == Some(stored.partition.into());
            is_it.then(|| event.number("next_offset")).flatten()
        }),
    );
    assert_eq!(begun.await, stored.next_offset, "it goes on from Postgres, whatever Kafka says");
    let export = caller.settled(&export_id).await;
    assert_eq!(export["state"], "succeeded", "{}{}", house.log().tail(), second.log().tail());
    after.downstreams_are_done().await;
    after.is_whole().await;
    facts_are_in_order(&system, &after).await;
    the_file_is_right(&caller, &export_id).await;
}

#[tokio::test]
async fn stats_killed_between_its_commit_and_kafkas_offset_go_on_from_their_own_position() {
    let requested = "SELECT coalesce(sum(requested), 0)::bigint FROM stats.counters
                     WHERE tenant_id = (SELECT tenant_id FROM export.jobs WHERE export_id = $1)";
    killed_between_commit_and_offset("stats", "stats", Some(requested)).await;
}

#[tokio::test]
async fn search_killed_between_its_commit_and_kafkas_offset_goes_on_from_its_own_position() {
    let documents = "SELECT count(*) FROM search.documents WHERE export_id = $1";
    killed_between_commit_and_offset("search", "search", Some(documents)).await;
}

#[tokio::test]
async fn a_worker_killed_between_its_position_and_kafkas_offset_goes_on_from_its_own_position() {
    killed_between_commit_and_offset("worker", "export", None).await;
}

#[tokio::test]
async fn a_fact_that_the_log_holds_twice_counts_once() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let _house = system.start(&["relay", "reconciler", "worker", "search", "stats"]);
    let export_id = caller.export("intent-7").await;
    caller.settled(&export_id).await;
    let after = Aftermath::of(&system, &export_id).await;
    after.downstreams_are_done().await;

    let topic = system.topic("waybill.export.events");
    let records = waybill_testkit::read_to_end(&topic).await;
    for record in &records {
        let headers: Vec<(&str, Option<&[u8]>)> =
            record.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        waybill_testkit::produce(
            &topic,
            record.partition,
            record.key.as_deref(),
            &headers,
            record.payload.as_deref(),
        )
        .await;
    }
    let passed = "SELECT sum(next_offset)::bigint FROM stats.positions WHERE $1 <> ''";
    let all = i64::try_from(2 * records.len()).expect("few records");
    eventually("stats to pass the copies", || async { (after.count(passed).await == all).then_some(()) })
        .await;
    after.is_whole().await;
}
