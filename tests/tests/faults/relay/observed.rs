//! Row 19, and a cursor that stands: what a relay finds when it looks at its outbox, and that it says so as long as it is so.

use waybill_testkit::{PrivateBroker, PrivatePostgres, Process, Settings, TestDatabase, eventually, within};

use super::scene::{Scene, append};

const HELD_BACK: &str = "relay-cleaning-held-back";
const STANDING: &str = "relay-cursor-standing";
const DATABASE_CHANGED: &str = "relay-database-changed";
const AGE: &str = "waybill_relay_oldest_unsent_age_seconds";

/// No broker listens there.
const NOBODY: &str = "127.0.0.1:9";

/// What takes minutes by default takes so long here.
const AFTER_MS: i64 = 1_500;

fn impatient(settings: Settings) -> Settings {
    let settings = settings.set("relay.observe_interval_ms", 100);
    settings
        .set("relay.cursor_standing_after_ms", AFTER_MS)
        .set("relay.cleaning_held_back_after_ms", AFTER_MS)
}

/// Waits until `/readyz` shows the reason, of this component, and gives its detail.
async fn said(relay: &Process, component: &str, code: &str) -> String {
    let reason = eventually(code, async || relay.reason(code).await).await;
    assert_eq!((&reason["role"], &reason["severity"]), (&"relay".into(), &"degraded".into()), "{reason}");
    assert_eq!(reason["component"], component, "{reason}");
    relay.logged_code("degraded", code).await;
    assert!(relay.metric("waybill_health_reasons").await >= 1.0);
    reason["detail"].as_str().unwrap_or_default().to_owned()
}

/// Waits until it shows it no more.
async fn taken_back(relay: &Process, code: &str) {
    eventually("the end of it", async || relay.reason(code).await.is_none().then_some(())).await;
    relay.logged_code("recovered", code).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_is_held_open_slows_no_relay_and_is_said_as_long_as_it_holds_back_cleaning() {
    /// The end of the last drained window: nothing that began before it is left out but what was in progress.
    const PASSED_XID: &str = "SELECT pg_snapshot_xmax(from_snapshot)::text::bigint FROM outbox.cursor";
    const ROWS_MIN: i64 = 20;
    let scene = Scene::new(3).await.with(impatient);
    let relay = scene.relay();
    scene.write(1).await;
    scene.drained().await;

    let mut holder = scene.database.admin().await;
    let pid: i32 = holder.query_one("SELECT pg_backend_pid()", &[]).await.expect("its pid").get(0);
    let open = holder.transaction().await.expect("begun");
    append(&open, &scene.topic, "late", 1).await;
    let held = open.query_one("SELECT pg_current_xact_id()::text::bigint", &[]).await.expect("its id");
    let (mut version, mut passed_xid) = (1, held.get::<_, i64>(0));
    within("the warning, and every row until then", async {
        while version < ROWS_MIN || relay.reason(HELD_BACK).await.is_none() {
            version += 1;
            scene.write(version).await;
            eventually("the row arrives", async || (scene.passed().await == version).then_some(())).await;
            let moved = async || Some(scene.number(PASSED_XID).await).filter(|now| *now > passed_xid);
            passed_xid = eventually("the window moves on beyond the open transaction", moved).await;
        }
    })
    .await;
    let detail = said(&relay, "cleaning", HELD_BACK).await;
    assert!(detail.contains(&format!("session {pid} ")), "{detail}");
    #[expect(clippy::cast_precision_loss, reason = "a second or two")]
    let after_seconds = AFTER_MS as f64 / 1_000.0;
    assert!(relay.metric("waybill_relay_cleaning_held_back_seconds").await >= after_seconds);
    assert_eq!(scene.records().await.len(), usize::try_from(version).expect("few"));

    open.commit().await.expect("committed");
    taken_back(&relay, HELD_BACK).await;
    assert!(relay.metric("waybill_relay_cleaning_held_back_seconds").await < after_seconds);
    scene.drained().await;
    assert_eq!(scene.is_whole().await.occurrences("late"), [1]);
}

/// How old the oldest row that was not passed is, in seconds and by the database's clock.
async fn oldest_age_seconds(scene: &Scene) -> f64 {
    let sql =
        "SELECT date_part('epoch', clock_timestamp() - min(created_at)) FROM outbox.events, outbox.cursor
               WHERE NOT pg_visible_in_snapshot(xid, from_snapshot)";
    scene.admin.query_one(sql, &[]).await.expect("an age").get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_that_no_broker_takes_shows_its_true_age_until_it_is_sent() {
    let broker = PrivateBroker::start();
    let scene = Scene::on_broker(&broker, &broker.bootstrap(), 1).await.with(impatient);
    broker.kill().await;
    scene.write_all(1..=3).await;
    let relay = scene.relay();
    for _ in 0..2 {
        let age_seconds = oldest_age_seconds(&scene).await;
        let shows_it = async || (relay.metric(AGE).await >= age_seconds).then_some(());
        eventually("the age of the oldest row", shows_it).await;
        assert!(relay.metric(AGE).await <= oldest_age_seconds(&scene).await, "it is not made up");
    }
    assert_eq!(scene.passed().await, 0);

    broker.run();
    scene.drained().await;
    eventually("nothing waits", async || (relay.metric(AGE).await <= 0.0).then_some(())).await;
    scene.is_whole_in(&broker.read_to_end(&scene.topic).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_age_of_a_backlog_goes_on_growing_while_the_database_is_away() {
    let server = PrivatePostgres::start(&[]);
    let scene = Scene::in_database(TestDatabase::on_server(&server.url()).await, 1).await.with(impatient);
    let mut scene = scene.with(|settings| settings.set("kafka.bootstrap", NOBODY));
    scene.write_all(1..=3).await;
    let relay = scene.relay();
    let is_seen = async || (relay.metric(AGE).await > 0.0).then_some(());
    eventually("the age of the oldest row", is_seen).await;

    server.crash().await;
    relay.logged("lease late").await;
    let age_seconds = relay.metric(AGE).await;
    assert!(age_seconds > 0.0, "it is taken back though nobody knows better");
    let grows = async || (relay.metric(AGE).await >= age_seconds + 2.0).then_some(());
    eventually("two seconds more", grows).await;

    server.run();
    scene.reconnect().await;
    let age_seconds = oldest_age_seconds(&scene).await;
    let shows_it = async || (relay.metric(AGE).await >= age_seconds).then_some(());
    eventually("the age of the oldest row", shows_it).await;
    assert!(relay.metric(AGE).await <= oldest_age_seconds(&scene).await, "it is not made up");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_age_of_a_halted_outbox_goes_on_growing() {
    /// As a database is that was promoted, and takes every relay's connections with it.
    const PROMOTED: &str = "UPDATE outbox.cursor SET timeline = timeline + 1;
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    /// A lease that is not late before the relay has seen where it is.
    const LEASE_MS: i64 = 10_000;
    let scene = Scene::new(1).await.with(impatient);
    let scene =
        scene.with(|settings| settings.set("kafka.bootstrap", NOBODY).set("relay.lease_ms", LEASE_MS));
    scene.write_all(1..=3).await;
    let relay = scene.relay();
    let is_seen = async || (relay.metric(AGE).await > 0.0).then_some(());
    eventually("the age of the oldest row", is_seen).await;

    scene.run(PROMOTED).await;
    relay.logged("another database: standing by").await;
    said(&relay, "database", DATABASE_CHANGED).await;
    let age_seconds = relay.metric(AGE).await;
    assert!(age_seconds > 0.0, "it is taken back though the backlog is there");
    let grows = async || (relay.metric(AGE).await >= age_seconds + 2.0).then_some(());
    eventually("two seconds more", grows).await;

    let other = scene.relay();
    said(&other, "database", DATABASE_CHANGED).await;
    assert!(other.metric(AGE).await.is_nan(), "one that has seen nothing makes nothing up");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_stands_before_a_backlog_is_said_until_it_moves() {
    let broker = PrivateBroker::start();
    let scene = Scene::on_broker(&broker, &broker.bootstrap(), 1).await.with(impatient);
    let relay = scene.relay();
    scene.write(1).await;
    scene.drained().await;
    broker.freeze();
    scene.write_all(2..=4).await;
    let detail = said(&relay, "cursor", STANDING).await;
    assert!(detail.starts_with("rows wait"), "{detail}");
    let counts_them = async || (relay.metric("waybill_relay_waiting_rows").await >= 3.0).then_some(());
    eventually("three rows wait", counts_them).await;
    assert_eq!(scene.passed().await, 1);

    broker.thaw();
    scene.drained().await;
    taken_back(&relay, STANDING).await;
    scene.is_whole_in(&broker.read_to_end(&scene.topic).await).await;
}
