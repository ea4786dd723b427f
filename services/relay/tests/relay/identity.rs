//! The database was restored or replaced: the relay halts until somebody says where to go on.

use waybill_outbox::window::{WindowError, acquire, standing};
use waybill_relay::codes::RELAY_DATABASE_CHANGED;
use waybill_testkit::eventually;

use crate::fixtures::{House, LONG, Outbox, first_occurrences};

/// As after a promotion: the same server's copy, another history.
const ANOTHER_TIMELINE: &str = "UPDATE outbox.cursor SET timeline = timeline + 1";

/// As after a dump was read into another server.
const ANOTHER_SERVER: &str = "UPDATE outbox.cursor SET system_identifier = '1', timeline = 1";

/// Waits until a standby has looked at the database once more, from its beginning.
async fn looked_again(house: &House) {
    let now = house.outbox.admin.query_one("SELECT clock_timestamp()::text", &[]).await.expect("a time");
    let since: String = now.get(0);
    let looks = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
         AND query LIKE '%AS remaining_seconds%' AND pid <> pg_backend_pid() AND query_start > '{since}'"
    );
    eventually("it looked again", async || (house.outbox.number(&looks).await > 0).then_some(())).await;
}

#[tokio::test]
async fn the_first_lease_records_the_server_and_later_ones_ask_for_the_same() {
    let outbox = Outbox::new().await;
    let unknown = "SELECT count(*) FROM outbox.cursor WHERE system_identifier IS NULL AND timeline IS NULL";
    assert_eq!(outbox.number(unknown).await, 1, "no relay was ever active");
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    let recorded = "SELECT count(*) FROM outbox.cursor, pg_control_system() AS control, pg_control_checkpoint() AS checkpoint \
                    WHERE cursor.system_identifier = control.system_identifier::text \
                        AND cursor.timeline = checkpoint.timeline_id";
    assert_eq!(outbox.number(recorded).await, 1);
    statements.load(&db, &mut cursor).await.expect("the same server");

    for change in [ANOTHER_TIMELINE, ANOTHER_SERVER] {
        outbox.run(change).await;
        let loaded = statements.load(&db, &mut cursor).await;
        assert!(matches!(loaded, Err(WindowError::DatabaseChanged { .. })), "{change}: {loaded:?}");
        outbox.expire().await;
        let taken = acquire(&db, "second", LONG).await.expect("an answer");
        assert!(taken.is_none(), "{change}: {taken:?}");
        let stands = standing(&db).await;
        assert!(matches!(stands, Err(WindowError::DatabaseChanged { .. })), "{change}: {stands:?}");
    }
}

#[tokio::test]
async fn a_fence_of_another_server_is_not_ours_although_its_number_is() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    // The restored database was given its own identity already, and its fence has come to our number.
    cursor.identity.timeline += 1;
    let loaded = statements.load(&db, &mut cursor).await;
    assert!(matches!(loaded, Err(WindowError::DatabaseChanged { .. })), "{loaded:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_on_another_server_sends_nothing_until_the_owner_says_where_to_go_on() {
    let house = House::new(1).await;
    let first = house.relay(&house.settings());
    house.write("a", "1").await;
    house.drained().await;
    first.end().await;
    house.outbox.run(ANOTHER_SERVER).await;
    let place = house.outbox.place().await;
    house.write("a", "2").await;

    let relay = house.relay(&house.settings());
    let detail = relay.degraded(RELAY_DATABASE_CHANGED).await;
    assert!(detail.contains("system identifier 1, timeline 1"), "{detail}");
    looked_again(&house).await;
    assert_eq!(house.outbox.place().await, place, "nothing was moved");
    assert_eq!(house.delivered().await, ["1"], "nothing was sent");

    house.outbox.rebase().await;
    assert_eq!(first_occurrences(&house.delivered_up_to("2").await), ["1", "2"]);
    eventually("it is healthy again", async || relay.health.report().reasons.is_empty().then_some(())).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_active_relay_that_reconnects_to_another_server_halts_and_loses_nothing_by_the_way_on() {
    let house = House::new(1).await;
    let relay = house.relay(&house.settings());
    house.write("a", "1").await;
    house.drained().await;
    // The new server's snapshots are of other transactions: as if everything up to far ahead had been sent.
    let restored = format!(
        "{ANOTHER_TIMELINE}, from_snapshot = '900000000:900000000:', to_snapshot = '900000000:900000000:', after_seq = 0; \
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND usename = 'waybill_relay'"
    );
    house.outbox.run(&restored).await;
    relay.degraded(RELAY_DATABASE_CHANGED).await;
    let place = house.outbox.place().await;
    house.write("a", "2").await;
    looked_again(&house).await;
    assert_eq!(house.outbox.place().await, place, "nothing was moved");
    assert_eq!(house.delivered().await, ["1"], "nothing was sent");

    house.outbox.rebase().await;
    assert_eq!(first_occurrences(&house.delivered_up_to("2").await), ["1", "2"]);
    relay.end().await;
}
