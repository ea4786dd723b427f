//! One relay is active, and a standby takes over: at once after an orderly end, after the lease otherwise.

use waybill_testkit::eventually;

use crate::fixtures::{House, first_occurrences};

const FENCE: &str = "SELECT fence FROM outbox.cursor";

/// A lease whose end a test waits for.
const LEASE_MS: i64 = 2_000;

async fn fence_above(house: &House, fence: i64) -> i64 {
    eventually("a takeover", async || Some(house.outbox.number(FENCE).await).filter(|found| *found > fence))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_when_the_lease_of_a_crashed_relay_is_over() {
    let house = House::new(1).await;
    let settings = house.settings().set("relay.lease_ms", LEASE_MS);
    let first = house.relay(&settings);
    house.write("a", "1").await;
    house.drained().await;
    let fence = house.outbox.number(FENCE).await;
    let second = house.relay(&settings);
    first.crash().await;
    let until = "SELECT (extract(epoch FROM lease_until) * 1000000)::bigint FROM outbox.cursor";
    // On a busy machine the takeover may have happened already; then there is nothing to compare.
    let held = format!("SELECT coalesce(({until} WHERE fence = {fence}), 0)");
    let over = house.outbox.number(&held).await;
    house.write("a", "2").await;
    fence_above(&house, fence).await;
    // The new lease was counted from the takeover, and every renewal of it from later.
    let taken = house.outbox.number(until).await - LEASE_MS * 1000;
    assert!(taken >= over, "taken {} µs before the old lease was over", over - taken);
    house.drained().await;
    assert_eq!(first_occurrences(&house.delivered().await), ["1", "2"]);
    second.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_at_once_when_the_lease_was_given_back() {
    let house = House::new(1).await;
    // Nobody could wait for the end of this lease.
    let settings = house.settings().set("relay.lease_ms", 3_600_000);
    let first = house.relay(&settings);
    house.write("a", "1").await;
    house.drained().await;
    let fence = house.outbox.number(FENCE).await;
    let second = house.relay(&settings);
    first.end().await;
    fence_above(&house, fence).await;
    house.write("a", "2").await;
    house.drained().await;
    assert_eq!(house.delivered().await, ["1", "2"]);
    second.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_whose_fence_is_old_moves_nothing_and_stands_by() {
    let house = House::new(1).await;
    let relay = house.relay(&house.settings().set("relay.lease_ms", 1_000).set("relay.poll_interval_ms", 50));
    house.write("a", "1").await;
    house.drained().await;
    // Another takes over in the same moment in which a row is committed.
    let steal = "UPDATE outbox.cursor SET fence = fence + 1, holder = 'another', lease_until = now() + interval '1 hour'";
    house.outbox.run(steal).await;
    let stolen = house.outbox.number(FENCE).await;
    let place = house.outbox.place().await;
    house.write("a", "2").await;
    // A standby asks how the lease stands, and nobody else does.
    let standbys = "SELECT count(*) FROM pg_stat_activity \
                    WHERE datname = current_database() AND query LIKE '%AS remaining_seconds%' AND pid <> pg_backend_pid()";
    eventually("it stands by", async || (house.outbox.number(standbys).await > 0).then_some(())).await;
    assert_eq!(house.outbox.place().await, place, "what another holds was not moved");
    house.outbox.expire().await;
    house.outbox.run("NOTIFY waybill_outbox_lease").await;
    assert_eq!(fence_above(&house, stolen).await, stolen + 1);
    house.drained().await;
    assert_eq!(first_occurrences(&house.delivered().await), ["1", "2"]);
    relay.end().await;
}
