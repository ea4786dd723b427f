//! That a batch has its effect once, whatever comes with it or between.

use std::sync::atomic::Ordering;

use waybill_consumer::{ConsumerOptions, codes};
use waybill_testkit::{eventually, produce};

use crate::bench::{Bench, Ledger};

#[tokio::test(flavor = "multi_thread")]
async fn copies_of_an_event_have_one_effect_within_a_batch_and_across() {
    let bench = Bench::bound(1).await;
    for id in ["a", "b", "a", "a"] {
        bench.send(0, id, "x").await;
    }
    let member = bench.start();
    bench.reached(0, 4).await;
    for id in ["b", "c"] {
        bench.send(0, id, "x").await;
    }
    bench.reached(0, 6).await;
    assert_eq!(bench.ids().await, ["a", "b", "c"]);
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_says_something_else_is_none_and_is_parked_within_a_batch_and_across() {
    let bench = Bench::bound(2).await;
    for (id, payload) in [("a", "says x"), ("a", "says y"), ("a", "says x"), ("b", "x"), ("c", "says x")] {
        bench.send(0, id, payload).await;
    }
    let member = bench.start();
    bench.reached(0, 5).await;
    // By another partition, too, and one of which nobody recorded what it said, or does not say it now.
    for (id, payload) in [("a", "says z"), ("a", "says x"), ("b", "says y"), ("c", "x")] {
        bench.send(1, id, payload).await;
    }
    bench.reached(1, 4).await;
    assert_eq!(bench.ids().await, ["a", "b", "c"]);
    let parked = bench.parked().await;
    let reasons: Vec<_> = parked.iter().map(|(offset, reason, ..)| (*offset, reason.as_str())).collect();
    assert_eq!(reasons, [(0, codes::IDENTITY_COLLISION), (1, codes::IDENTITY_COLLISION)]);
    let detail: String = bench
        .admin
        .query_one("SELECT detail FROM stats.parked WHERE partition = 0", &[])
        .await
        .unwrap()
        .get(0);
    assert!(detail.contains("\"a\"") && detail.contains("0178") && detail.ends_with("0179"), "{detail}");
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_position_moved_back_by_hand_gives_no_second_effect() {
    let bench = Bench::bound(1).await;
    for id in ["a", "b"] {
        bench.send(0, id, "x").await;
    }
    let member = bench.start();
    bench.reached(0, 2).await;
    member.end().await;
    bench.admin.execute("UPDATE stats.positions SET next_offset = 0", &[]).await.unwrap();
    let member = bench.start();
    bench.reached(0, 2).await;
    assert_eq!(bench.ids().await, ["a", "b"]);
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_cannot_be_applied_is_parked_whole_and_the_partition_goes_on() {
    let bench = Bench::bound(1).await;
    bench.send(0, "a", "x").await;
    bench.send(0, "undecodable", "poison").await;
    bench.send(0, "unwanted", "refused").await;
    bench.send(0, "refused-by-postgres", "x").await;
    bench.send(0, "b", "x").await;
    let no_text: &[(&str, Option<&[u8]>)] = &[("empty", None)];
    produce(&bench.topic, 0, None, no_text, Some(b"poison")).await;
    let member = bench.start();
    bench.reached(0, 6).await;
    assert_eq!(bench.ids().await, ["a", "b"]);
    let parked = bench.parked().await;
    let reasons: Vec<_> = parked.iter().map(|(offset, reason, ..)| (*offset, reason.as_str())).collect();
    assert_eq!(
        reasons,
        [(1, "test-poison"), (2, "test-refused"), (3, codes::EFFECT_REJECTED), (5, "test-poison")]
    );
    let (_, _, payload, headers) = &parked[0];
    assert_eq!(payload.as_deref(), Some(b"poison".as_slice()));
    assert_eq!(headers[0].as_deref(), Some(b"undecodable".as_slice()));
    assert_eq!(parked[3].3, [None]);
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_may_be_readable_later_holds_its_partition_and_no_other() {
    let bench = Bench::bound(2).await;
    bench.send(0, "before", "x").await;
    bench.send(0, "unknown-yet", "later").await;
    bench.send(0, "behind", "x").await;
    bench.send(1, "elsewhere", "x").await;
    let member = bench.start();
    let component = member.status.says(codes::RECORD_WAITING).await;
    assert_eq!(component, format!("consumer.{}.0", bench.group));
    bench.reached(0, 1).await;
    bench.reached(1, 1).await;
    assert_eq!(bench.ids().await, ["before", "elsewhere"]);
    member.effect.readable.store(true, Ordering::SeqCst);
    bench.reached(0, 3).await;
    assert_eq!(bench.ids().await, ["before", "behind", "elsewhere", "unknown-yet"]);
    assert!(bench.parked().await.is_empty());
    member.status.is_well().await;
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partition_that_is_stuck_is_paused_and_its_backlog_comes_later() {
    let bench = Bench::bound(2).await;
    let behind: Vec<String> = (0..300).map(|number| format!("{number:03}")).collect();
    bench.send(0, "unknown-yet", "later").await;
    bench.send_all(0, &behind, &"x".repeat(500)).await;
    let options =
        ConsumerOptions { batch_bytes_max: 16 * 1024, buffer_bytes_max: 32 * 1024, ..bench.options() };
    let member = bench.start_with(options, Ledger::default());
    member.status.says(codes::RECORD_WAITING).await;
    // Far more than one buffer holds lies in partition 0; partition 1 goes on.
    bench.send(1, "elsewhere", "x").await;
    bench.reached(1, 1).await;
    assert_eq!(bench.ids().await, ["elsewhere"]);
    member.effect.readable.store(true, Ordering::SeqCst);
    bench.reached(0, 301).await;
    assert_eq!(bench.ids().await.len(), 302);
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_goes_away_is_waited_for() {
    let bench = Bench::bound(1).await;
    bench.send(0, "a", "x").await;
    let member = bench.start();
    bench.reached(0, 1).await;
    let name = bench.db.name();
    let gone = format!(
        "ALTER ROLE waybill_stats IN DATABASE {name} SET default_transaction_read_only = on; \
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND usename = 'waybill_stats'"
    );
    bench.admin.batch_execute(&gone).await.unwrap();
    bench.send(0, "b", "x").await;
    member.status.says(codes::POSTGRES_UNAVAILABLE).await;
    assert_eq!(bench.position(0).await.unwrap().0, 1);
    let back = format!("ALTER ROLE waybill_stats IN DATABASE {name} RESET default_transaction_read_only");
    bench.admin.batch_execute(&back).await.unwrap();
    bench.reached(0, 2).await;
    assert_eq!(bench.ids().await, ["a", "b"]);
    member.status.is_well().await;
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn small_buffers_hold_the_loop_without_losing_a_record() {
    const RECORDS: usize = 3_000;
    let bench = Bench::bound(1).await;
    let ids: Vec<String> = (0..RECORDS).map(|number| format!("{number:05}")).collect();
    bench.send_all(0, &ids, &"x".repeat(500)).await;
    let options = ConsumerOptions {
        batch_records_max: 20,
        batch_bytes_max: 16 * 1024,
        buffer_bytes_max: 32 * 1024,
        ..bench.options()
    };
    let member = bench.start_with(options, Ledger::default());
    bench.reached(0, RECORDS as i64).await;
    assert_eq!(bench.ids().await, ids);
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_that_come_and_go_lose_nothing_and_repeat_nothing() {
    const PARTITIONS: i32 = 4;
    const ROUNDS: usize = 3;
    let bench = Bench::bound(PARTITIONS).await;
    let first = bench.start();
    let mut sent = Vec::new();
    eventually("the first member at work", async || {
        (fences(&bench).await >= i64::from(PARTITIONS)).then_some(())
    })
    .await;
    for round in 0..ROUNDS {
        let before = fences(&bench).await;
        let second = bench.start();
        // What is sent while the group rebalances is applied by either of them.
        for number in 0..50 {
            let id = format!("{round}-{number:03}");
            bench.send(number % PARTITIONS, &id, "x").await;
            sent.push(id);
        }
        let moved = i64::from(PARTITIONS / 2);
        eventually("the second member's share", async || {
            (fences(&bench).await >= before + moved).then_some(())
        })
        .await;
        second.end().await;
        eventually("its return", async || (fences(&bench).await >= before + moved * 2).then_some(())).await;
    }
    eventually("every effect", async || (bench.ids().await.len() >= sent.len()).then_some(())).await;
    sent.sort();
    assert_eq!(bench.ids().await, sent);
    let applied = bench.effects().await;
    for partition in 0..PARTITIONS {
        let count = applied.iter().filter(|had| had.partition == partition).count() as i64;
        bench.reached(partition, count).await;
    }
    first.end().await;
}

/// How often partitions were taken, over all.
async fn fences(bench: &Bench) -> i64 {
    let sum = "SELECT coalesce(sum(fence), 0)::bigint FROM stats.positions";
    bench.admin.query_one(sum, &[]).await.unwrap().get(0)
}
