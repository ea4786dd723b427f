//! Rows 14 and 17: the broker is killed, or takes nothing for long.

use waybill_testkit::{PrivateBroker, eventually};

use super::scene::Scene;

/// Appends so many versions of so many keys.
fn many(topic: &str, keys: i64, versions: i64, filler_bytes: i64) -> String {
    format!(
        "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload)
         SELECT '{topic}', convert_to('key ' || key, 'UTF8'), id, ARRAY['ce_id', 'filler'],
             ARRAY[convert_to(id, 'UTF8'), convert_to(repeat('x', {filler_bytes}), 'UTF8')],
             convert_to(version::text, 'UTF8')
         FROM (
             SELECT key, version, gen_random_uuid()::text AS id
             FROM generate_series(1, {keys}) AS key, generate_series(1, {versions}) AS version
         ) AS made
         ORDER BY version"
    )
}

const WAITS_SECONDS: &str = "waybill_relay_oldest_unsent_age_seconds";

/// How long the broker stays away: past what librdkafka by default gives a request (`request.timeout.ms`), and then past
/// what it gives a connection on which nothing is answered (`socket.timeout.ms`).
const AWAY_SECONDS: [f64; 2] = [31.0, 61.0];

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_rows_in_flight_outlive_a_broker_killed_before_its_acknowledgement_and_long_away() {
    let broker = PrivateBroker::start();
    let scene = Scene::on_broker(&broker, &broker.bootstrap(), 3)
        .await
        .with(|settings| settings.set("relay.page_rows", 5_000));
    let relay = scene.relay();
    scene.write(1).await;
    scene.drained().await;
    broker.freeze();
    scene.run(&many(&scene.topic, 50, 200, 0)).await;
    eventually("all of them in flight", async || {
        (relay.metric("waybill_relay_in_flight_rows").await >= 10_000.0).then_some(())
    })
    .await;
    broker.kill().await;
    let killed = relay.metric(WAITS_SECONDS).await;
    relay.logged_code("degraded", "relay-delivery-failing").await;
    for away_seconds in AWAY_SECONDS {
        eventually("the oldest row has waited for so long", async || {
            (relay.metric(WAITS_SECONDS).await >= killed + away_seconds).then_some(())
        })
        .await;
    }
    assert_eq!(scene.passed().await, 1, "the cursor passed a row without its acknowledgement");

    broker.run();
    scene.drained().await;
    let ledger = scene.is_whole_in(&broker.read_to_end(&scene.topic).await).await;
    assert_eq!((ledger.events(), ledger.keys()), (10_001, 51));
    relay.logged("recovered").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_takes_nothing_bounds_what_the_relay_holds_of_the_backlog() {
    const PAGE_BYTES_MAX: i64 = 4 * 1024 * 1024;
    /// Far below the backlog of 150 MB, and above what a page or two take in any of the relay's, the driver's and the
    /// producer's hands.
    const GROWTH_KIB_MAX: u64 = 64 * 1024;
    let broker = PrivateBroker::start();
    let scene = Scene::on_broker(&broker, &broker.bootstrap(), 3)
        .await
        .with(|settings| settings.set("relay.page_bytes_max", PAGE_BYTES_MAX));
    let relay = scene.relay();
    scene.write(1).await;
    scene.drained().await;
    let idle = relay.memory_peak_kib();
    broker.freeze();
    scene.run(&many(&scene.topic, 100, 150, 10_000)).await;
    eventually("as much in flight as may be", async || {
        let bytes = relay.metric("waybill_relay_in_flight_bytes").await;
        #[expect(clippy::cast_precision_loss, reason = "a few megabytes")]
        (bytes >= PAGE_BYTES_MAX as f64).then_some(())
    })
    .await;
    assert_eq!(scene.passed().await, 1);
    broker.thaw();
    scene.drained().await;
    let ledger = scene.is_whole_in(&broker.read_to_end(&scene.topic).await).await;
    assert_eq!(ledger.events(), 15_001);
    if let Some((idle, peak)) = idle.zip(relay.memory_peak_kib()) {
        assert!(peak - idle <= GROWTH_KIB_MAX, "{idle} KiB when idle, {peak} KiB at its peak");
    }
}
