//! Reading, sending and moving the cursor at the same time, and what that costs.

use rdkafka::admin::AdminOptions;
use waybill_testkit::{Launch, eventually};

use crate::fixtures::{House, write};
use crate::refusal::admin;

/// Notes every window that the cursor comes to.
const NOTE_WINDOWS: &str = "
    CREATE TABLE windows (number bigint GENERATED ALWAYS AS IDENTITY, begins text, ends text);
    CREATE FUNCTION note_window() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        INSERT INTO public.windows (begins, ends) VALUES (NEW.from_snapshot, NEW.to_snapshot);
        RETURN NEW;
    END $$;
    CREATE TRIGGER note_window AFTER UPDATE OF to_snapshot, from_snapshot ON outbox.cursor
        FOR EACH ROW EXECUTE FUNCTION note_window()";

/// Lets a move over acknowledged rows wait for whoever holds the advisory lock 1.
const WAIT_BEFORE_ADVANCING: &str = "
    CREATE FUNCTION wait_before_advancing() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(1);
        RETURN NEW;
    END $$;
    CREATE TRIGGER wait_before_advancing BEFORE UPDATE ON outbox.cursor
        FOR EACH ROW WHEN (NEW.after_seq > OLD.after_seq) EXECUTE FUNCTION wait_before_advancing()";

/// Lets a move from one window into the next wait for whoever holds the advisory lock 1.
const WAIT_BEFORE_ROLLING: &str = "
    CREATE FUNCTION wait_before_rolling() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(1);
        RETURN NEW;
    END $$;
    CREATE TRIGGER wait_before_rolling BEFORE UPDATE ON outbox.cursor
        FOR EACH ROW WHEN (
            OLD.from_snapshot::text <> OLD.to_snapshot::text AND NEW.from_snapshot::text <> NEW.to_snapshot::text
            AND OLD.to_snapshot::text <> NEW.to_snapshot::text
        ) EXECUTE FUNCTION wait_before_rolling()";

/// The relays that wait for the advisory lock.
const ROLLING: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE usename = 'waybill_relay' AND datname = current_database() AND wait_event = 'advisory'";

/// The statements of relays that wait for a lock.
const BLOCKED: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE usename = 'waybill_relay' AND datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE '%to_snapshot = pg_current_snapshot()%'";

#[tokio::test(flavor = "multi_thread")]
async fn a_window_is_left_for_the_next_in_one_move_while_rows_wait_and_only_the_last_is_drained() {
    let house = House::new(1).await;
    house.outbox.run(NOTE_WINDOWS).await;
    let relay = house.relay(&house.settings());
    let mut admin = house.outbox.database.admin().await;
    eventually("the lease is taken", async || {
        (house.outbox.number("SELECT fence FROM outbox.cursor").await > 0).then_some(())
    })
    .await;
    let standing_still = admin.transaction().await.expect("begun");
    standing_still.execute("SELECT 1 FROM outbox.cursor FOR UPDATE", &[]).await.expect("locked");
    house.write("a", "first window").await;
    eventually("the window waits to be opened", async || {
        (house.outbox.number(BLOCKED).await == 1).then_some(())
    })
    .await;
    house.write("a", "second window").await;
    house.write("a", "second window, too").await;
    standing_still.commit().await.expect("let go");
    house.drained().await;
    relay.end().await;
    assert_eq!(house.delivered().await, ["first window", "second window", "second window, too"]);
    let noted = house.outbox.admin.query("SELECT begins, ends FROM windows ORDER BY number", &[]).await;
    let windows: Vec<(String, String)> =
        noted.expect("the windows").iter().map(|row| (row.get(0), row.get(1))).collect();
    let [opened, rolled, drained] = windows.as_slice() else { panic!("{windows:?}") };
    assert!(opened.1 == rolled.0 && rolled.0 != rolled.1, "{windows:?}");
    assert!(rolled.1 == drained.0 && drained.0 == drained.1, "{windows:?}");
    assert_eq!(house.outbox.number("SELECT count(*) FROM outbox.batches").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_goes_while_a_window_is_left_for_the_next_takes_no_row_of_the_next_along() {
    let house = House::new(1).await;
    house.outbox.run(WAIT_BEFORE_ROLLING).await;
    let idle = house.topics.create("idle", 1).await;
    // The move holds the cursor's row for longer than a lease usually runs.
    let relay = Launch::roles(&["relay"], house.settings().set("relay.lease_ms", 120_000)).start();
    write(&house.outbox.writer, &idle, "a", "known from now on").await;
    house.write("a", "before").await;
    house.drained().await;

    let mut admin_of_moves = house.outbox.database.admin().await;
    let rolling = admin_of_moves.transaction().await.expect("begun");
    rolling.execute("SELECT pg_advisory_xact_lock(1)", &[]).await.expect("locked");
    let mut admin_of_windows = house.outbox.database.admin().await;
    let opening = admin_of_windows.transaction().await.expect("begun");
    opening.execute("SELECT 1 FROM outbox.cursor FOR UPDATE", &[]).await.expect("locked");
    house.write("a", "first window").await;
    eventually("the window waits to be opened", async || {
        (house.outbox.number(BLOCKED).await == 1).then_some(())
    })
    .await;
    house.write("a", "second window").await;
    opening.commit().await.expect("let go");
    eventually("the next one waits, too", async || (house.outbox.number(ROLLING).await == 1).then_some(()))
        .await;

    admin().delete_topics(&[&idle], &AdminOptions::new()).await.expect("Kafka answers");
    eventually("the relay starts over", async || {
        (relay.metric("waybill_relay_delivery_failures_total").await > 0.0).then_some(())
    })
    .await;
    rolling.commit().await.expect("let go");
    house.drained().await;
    assert_eq!(house.delivered().await, ["before", "first window", "second window"]);
    relay.terminate().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_of_which_nobody_speaks_is_found_however_rarely_the_relay_looks() {
    let house = House::new(1).await;
    let relay = house.relay(&house.settings().set("relay.poll_interval_ms", 1_500));
    house.write("a", "announced").await;
    house.drained().await;
    for silent in ["one", "another"] {
        write(&house.outbox.writer, &house.topic, "a", silent).await;
        house.drained().await;
    }
    assert_eq!(house.delivered().await, ["announced", "one", "another"]);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_of_the_cursor_that_takes_long_holds_up_neither_reading_nor_sending() {
    let house = House::new(1).await;
    house.outbox.run(WAIT_BEFORE_ADVANCING).await;
    let mut admin = house.outbox.database.admin().await;
    let slow = admin.transaction().await.expect("begun");
    slow.execute("SELECT pg_advisory_xact_lock(1)", &[]).await.expect("locked");
    let fill = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                SELECT $1, 'k', 'evt', '{}', '{}', convert_to(n::text, 'UTF8') FROM generate_series(1, 1000) AS n";
    house.outbox.admin.execute(fill, &[&house.topic]).await.expect("inserted");
    let relay = house.relay(&house.settings().set("relay.page_rows", 100));
    eventually("every row arrives", async || (house.delivered().await.len() == 1000).then_some(())).await;
    let moves = "SELECT count(*) FROM outbox.batches";
    assert_eq!(house.outbox.number(moves).await, 0, "the first move waits");
    slow.commit().await.expect("let go");
    house.drained().await;
    relay.end().await;
    assert_eq!(house.delivered().await.len(), 1000, "each once");
    assert_eq!(house.outbox.number(moves).await, 2, "what settled meanwhile is passed in one move");
    assert_eq!(house.outbox.number("SELECT sum(events)::bigint FROM outbox.batches").await, 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_of_a_million_rows_takes_no_more_memory_than_what_is_in_flight() {
    const ROWS: i64 = 1_000_000;
    const GROWTH_KIB_MAX: u64 = 64 * 1024;
    let house = House::new(6).await;
    let relay = Launch::roles(&["relay"], house.settings()).start();
    house.write("a", "idle after this").await;
    house.drained().await;
    let idle = relay.memory_peak_kib();
    let fill = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                SELECT $1, int8send(n % 50000), 'evt', ARRAY['id', 'ce_type', 'ce_source', 'ce_specversion'], \
                    ARRAY[int8send(n), 'export.succeeded'::bytea, 'urn:exports', '1.0'], \
                    convert_to(rpad(n::text, 300, md5(n::text)), 'UTF8') \
                FROM generate_series(1, $2::bigint) AS n";
    house.outbox.admin.execute(fill, &[&house.topic, &ROWS]).await.expect("inserted");
    let acknowledged = "SELECT coalesce(sum(events), 0)::bigint FROM outbox.batches";
    let mut seen = 0;
    while seen <= ROWS {
        let before = seen;
        seen = eventually("more is acknowledged", async || {
            Some(house.outbox.number(acknowledged).await).filter(|now| *now > before)
        })
        .await;
    }
    assert_eq!(seen, ROWS + 1);
    if let Some((idle, peak)) = idle.zip(relay.memory_peak_kib()) {
        assert!(peak - idle <= GROWTH_KIB_MAX, "{idle} KiB when idle, {peak} KiB at its peak");
    }
    relay.terminate().await;
}
