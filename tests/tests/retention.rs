//! What an outbox need not keep any longer goes by partition, and never with a row that nobody has sent.

use tokio_postgres::Client;
use tokio_postgres::error::{DbError, SqlState};
use waybill_outbox::upkeep::{self, Dropped, is_busy};
use waybill_outbox::{Event, Outbox};
use waybill_testkit::{Launch, Settings, TestDatabase, eventually, within};

/// How old, in days, the partitions of these tests are, and how long rows are kept.
const AGE_DAYS: i32 = 20;
const RETENTION_DAYS: i32 = 14;

/// A database whose outbox has partitions of [`AGE_DAYS`] ago.
struct House {
    database: TestDatabase,
    admin: Client,
    /// The day of the old partitions, as their names have it.
    day: String,
}

impl House {
    async fn new() -> Self {
        let database = TestDatabase::fresh().await;
        let admin = database.admin().await;
        let house = Self { database, admin, day: String::new() };
        let day = house.age(AGE_DAYS).await;
        Self { day, ..house }
    }

    /// Makes the partitions of so many days ago, as `ensure_partitions` did then, and answers the day.
    async fn age(&self, days: i32) -> String {
        let sql =
            "SELECT to_char(day, 'YYYYMMDD'), to_char(day, 'YYYY-MM-DD'), to_char(day + 1, 'YYYY-MM-DD')
                   FROM (SELECT (now() AT TIME ZONE 'UTC')::date - $1::integer AS day) AS days";
        let row = self.admin.query_one(sql, &[&days]).await.expect("a day");
        let (day, from, to): (String, String, String) = (row.get(0), row.get(1), row.get(2));
        self.run("SET ROLE waybill_owner").await;
        for parent in ["events", "batches"] {
            self.run(&format!(
                "CREATE TABLE outbox.{parent}_{day} PARTITION OF outbox.{parent}
                 FOR VALUES FROM ('{from} 00:00:00+00') TO ('{to} 00:00:00+00')"
            ))
            .await;
        }
        self.run("RESET ROLE").await;
        day
    }

    async fn run(&self, sql: &str) {
        self.admin.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    async fn count(&self, of: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {of}");
        self.admin.query_one(&sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }

    /// Moves the cursor as a relay does that has sent everything that is committed now.
    async fn relay_everything(&self) {
        self.run(
            "UPDATE outbox.cursor
             SET from_snapshot = pg_current_snapshot(), to_snapshot = pg_current_snapshot(), after_seq = 0,
                 system_identifier = server.system_identifier, timeline = server.timeline
             FROM outbox.server_identity() AS server",
        )
        .await;
    }

    /// A connection of the reconciler, as its pool has it.
    async fn keeper(&self) -> Client {
        let keeper = self.database.role("reconciler").await;
        keeper.batch_execute("SET search_path = outbox").await.expect("set");
        keeper
    }

    async fn drop_relayed(&self) -> Dropped {
        upkeep::drop_relayed(&self.keeper().await, RETENTION_DAYS).await.expect("an answer")
    }

    /// What [`upkeep::drop_relayed`] answers when this partition went.
    fn gone(&self, parent: &str) -> Dropped {
        Dropped { partition: Some(format!("{parent}_{}", self.day)), kept: 0 }
    }

    /// Lets `drop_relayed` wait for as long as the naive way would, so that a test decides when its wait ends.
    async fn let_it_wait(&self) {
        self.run("ALTER FUNCTION outbox.drop_relayed(integer) SET lock_timeout = '60s'").await;
    }

    /// A writer whose open transaction has put a row into the old partition.
    async fn open_writer(&self) -> Client {
        let writer = self.database.admin().await;
        writer.batch_execute("BEGIN").await.expect("begun");
        writer.batch_execute(&append_long_ago("late")).await.expect("appended");
        writer
    }

    /// Waits until somebody waits for the lock that a drop takes.
    async fn somebody_waits(&self) {
        let waiting = "pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'
                       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        eventually("a drop that waits", async || (self.count(waiting).await > 0).then_some(())).await;
    }
}

/// A row of [`AGE_DAYS`] ago.
fn append_long_ago(event_id: &str) -> String {
    format!(
        "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, created_at)
         VALUES ('t', 'k', '{event_id}', '{{}}', '{{}}', now() - interval '{AGE_DAYS} days')"
    )
}

const NOTHING: Dropped = Dropped { partition: None, kept: 0 };
const KEPT: Dropped = Dropped { partition: None, kept: 1 };

#[tokio::test]
async fn a_partition_with_one_row_that_was_not_relayed_stays_and_goes_once_it_was() {
    let house = House::new().await;
    for n in 0..20 {
        house.run(&append_long_ago(&format!("e{n}"))).await;
    }
    house.relay_everything().await;
    house.run(&append_long_ago("one_more")).await;

    assert_eq!(house.drop_relayed().await, KEPT);
    assert_eq!(house.count("outbox.events").await, 21);

    house.relay_everything().await;
    assert_eq!(house.drop_relayed().await, house.gone("events"));
    assert_eq!(house.drop_relayed().await, house.gone("batches"));
    assert_eq!(house.drop_relayed().await, NOTHING);
    assert_eq!(house.count("outbox.events").await, 0);
}

#[tokio::test]
async fn nothing_goes_before_a_relay_was_ever_active_nor_on_another_server_nor_while_rows_are_sent_again() {
    let house = House::new().await;
    house.run(&append_long_ago("e")).await;
    assert_eq!(house.drop_relayed().await, KEPT, "no relay was ever active");
    for spoilt in
        ["system_identifier = 'another'", "timeline = timeline + 1", "resend_after_seq = 0, floor_seq = 1000"]
    {
        house.relay_everything().await;
        house.run(&format!("UPDATE outbox.cursor SET {spoilt}")).await;
        assert_eq!(house.drop_relayed().await, KEPT, "{spoilt}");
    }
    house.run("UPDATE outbox.cursor SET from_snapshot = '1:1:', resend_after_seq = NULL").await;
    assert_eq!(
        house.drop_relayed().await,
        house.gone("events"),
        "rows of before the restore were sent again, whatever their xids"
    );
}

#[tokio::test]
async fn a_young_partition_stays_though_its_every_row_was_relayed() {
    let house = House::new().await;
    house.age(RETENTION_DAYS).await;
    house.relay_everything().await;
    let young = house.count("outbox.daily_partitions()").await;
    while house.drop_relayed().await.partition.is_some() {}
    assert_eq!(house.count("outbox.daily_partitions()").await, young - 2, "only the ones of {AGE_DAYS} days");
}

#[tokio::test]
async fn what_says_when_a_row_was_sent_stays_as_long_as_a_row_of_its_day_or_of_one_before() {
    let house = House::new().await;
    house.age(AGE_DAYS + 5).await;
    house.age(AGE_DAYS - 5).await;
    house.relay_everything().await;
    house.run(&append_long_ago("kept")).await;
    let mut gone = Vec::new();
    while let Dropped { partition: Some(partition), kept } = house.drop_relayed().await {
        assert_eq!(kept, 1);
        gone.push(partition.split('_').next().unwrap_or_default().to_owned());
    }
    assert_eq!(gone, ["events", "events", "batches"], "the day's own batches stay, and the later ones");
}

#[tokio::test]
async fn an_open_writer_is_not_waited_for_and_its_row_is_found_when_it_has_committed() {
    let house = House::new().await;
    house.relay_everything().await;
    let writer = house.open_writer().await;
    let keeper = house.keeper().await;

    let refused = within("the refusal", upkeep::drop_relayed(&keeper, RETENTION_DAYS)).await;
    assert!(is_busy(&refused.expect_err("the writer holds the partition")));
    let other = Outbox::default();
    let event = Event { topic: "t", key: None, event_id: "e", headers: &[], payload: None };
    let api = house.database.role("api").await;
    within("another writer", other.append(&api, &event)).await.expect("nobody stands in its way");

    writer.batch_execute("COMMIT").await.expect("committed");
    assert_eq!(house.drop_relayed().await, KEPT);
    assert_eq!(house.count("outbox.events WHERE event_id = 'late'").await, 1);
    house.relay_everything().await;
    assert_eq!(house.drop_relayed().await, house.gone("events"));
}

#[tokio::test]
async fn a_row_that_commits_while_the_drop_waits_for_its_lock_is_seen_under_the_lock() {
    let house = House::new().await;
    house.relay_everything().await;
    house.let_it_wait().await;
    let writer = house.open_writer().await;
    let keeper = house.keeper().await;
    let dropping = tokio::spawn(async move { upkeep::drop_relayed(&keeper, RETENTION_DAYS).await });
    house.somebody_waits().await;

    writer.batch_execute("COMMIT").await.expect("committed");

    assert_eq!(within("the drop", dropping).await.expect("no panic").expect("an answer"), KEPT);
    assert_eq!(house.count("outbox.events WHERE event_id = 'late'").await, 1);
}

/// A row's day is the one on which its transaction began, as `now()` has it, however long that has been open.
#[tokio::test]
async fn a_transaction_that_outlived_its_partition_is_refused_at_its_first_append_and_rolled_back_whole() {
    let house = House::new().await;
    house.relay_everything().await;
    house.run("CREATE TABLE public.orders (n integer)").await;
    let writer = house.database.admin().await;
    writer.batch_execute("BEGIN; INSERT INTO public.orders VALUES (1)").await.expect("nothing appended yet");
    assert_eq!(house.drop_relayed().await, house.gone("events"), "nobody who has appended is open");

    let refused = writer.batch_execute(&append_long_ago("late")).await.expect_err("its day is gone");
    assert_eq!(refused.code(), Some(&SqlState::CHECK_VIOLATION), "{refused:?}");
    let message = refused.as_db_error().map(DbError::message).unwrap_or_default();
    assert!(message.starts_with("no partition of relation"), "{message}");
    writer.batch_execute("COMMIT").await.expect("the end of what had failed");
    assert_eq!(house.count("public.orders").await, 0, "the order is not there without its event");
}

#[tokio::test]
async fn a_transaction_that_has_appended_keeps_every_old_partition_until_its_commit_which_is_never_refused() {
    let house = House::new().await;
    house.relay_everything().await;
    let writer = house.database.admin().await;
    let recent = "BEGIN; INSERT INTO outbox.events (topic, event_id, header_names, header_values)
                  VALUES ('t', 'recent', '{}', '{}')";
    writer.batch_execute(recent).await.expect("appended to the partition of today");
    let refused = upkeep::drop_relayed(&house.keeper().await, RETENTION_DAYS).await;
    assert!(is_busy(&refused.expect_err("the writer holds the table that the partition is of")));

    writer.batch_execute("COMMIT").await.expect("committed");
    assert_eq!(house.count("outbox.events WHERE event_id = 'recent'").await, 1);
    assert_eq!(house.drop_relayed().await, house.gone("events"));
}

#[tokio::test]
async fn a_prepared_transaction_holds_its_partition_until_it_is_decided() {
    let house = House::new().await;
    house.relay_everything().await;
    let writer = house.open_writer().await;
    let name = format!("retention_{}", house.database.name());
    writer.batch_execute(&format!("PREPARE TRANSACTION '{name}'")).await.expect("prepared");
    drop(writer);

    let refused = upkeep::drop_relayed(&house.keeper().await, RETENTION_DAYS).await;
    assert!(is_busy(&refused.expect_err("the prepared transaction holds the partition")));

    house.run(&format!("COMMIT PREPARED '{name}'")).await;
    assert_eq!(house.drop_relayed().await, KEPT);
}

/// The counter-example: why the rows are looked at again under the lock. `docs/relay.md` tells of it.
#[tokio::test]
async fn a_naive_drop_takes_the_committed_row_of_a_writer_that_it_waited_for() {
    let house = House::new().await;
    house.relay_everything().await;
    let writer = house.open_writer().await;
    let unrelayed = "outbox.events, outbox.cursor WHERE NOT pg_visible_in_snapshot(xid, from_snapshot)";
    assert_eq!(
        house.count(unrelayed).await,
        0,
        "every committed row was relayed, so it may go, says the naive"
    );
    let naive = house.database.admin().await;
    let statement = format!("DROP TABLE outbox.events_{}", house.day);
    let dropping = tokio::spawn(async move { naive.batch_execute(&statement).await });
    house.somebody_waits().await;

    writer.batch_execute("COMMIT").await.expect("the writer is told that its row is there for good");

    within("the drop", dropping).await.expect("no panic").expect("dropped");
    assert_eq!(house.count("outbox.events WHERE event_id = 'late'").await, 0, "and it is gone, unsent");
}

#[tokio::test]
async fn a_transaction_that_could_not_look_again_is_refused() {
    let house = House::new().await;
    house.relay_everything().await;
    let keeper = house.keeper().await;
    keeper.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await.expect("begun");
    let refused = upkeep::drop_relayed(&keeper, RETENTION_DAYS).await.expect_err("refused");
    assert_eq!(refused.code(), Some(&SqlState::RAISE_EXCEPTION), "{refused:?}");
}

#[tokio::test]
async fn parked_rows_that_were_sent_long_ago_are_forgotten_and_no_others() {
    let house = House::new().await;
    house
        .run(
            "INSERT INTO outbox.holds (scope, topic, code, detail, ended_at) VALUES ('topic', 't', 'c', 'd', now());
             INSERT INTO outbox.parked (
                 seq, hold_id, state, xid, topic, event_id, header_names, header_values, created_at, sent_at,
                 code, decided_by, decision_reason
             )
             SELECT n, hold_id, state, '3', 't', 'e', '{}', '{}', now(),
                 CASE state WHEN 'sent' THEN now() - make_interval(days => n % 30) END, 'c', 'ops', 'why'
             FROM outbox.holds, generate_series(1, 120) AS n,
                 LATERAL (SELECT (ARRAY['sent', 'waiting', 'refused', 'discarded'])[n % 4 + 1] AS state) AS kind",
        )
        .await;
    let others = house.count("outbox.parked WHERE state <> 'sent'").await;
    let young = house.count("outbox.parked WHERE sent_at >= now() - interval '14 days'").await;
    let old = house.count("outbox.parked").await - others - young;
    let keeper = house.keeper().await;
    assert_eq!(
        upkeep::forget_sent(&keeper, RETENTION_DAYS, 5).await.expect("forgotten"),
        5,
        "so many at once"
    );
    let rest = upkeep::forget_sent(&keeper, RETENTION_DAYS, 1000).await.expect("forgotten");
    assert_eq!(i64::from(rest) + 5, old);
    assert_eq!(house.count("outbox.parked").await, others + young);
}

#[tokio::test]
async fn the_reconciler_lets_go_of_what_was_relayed_and_says_what_has_to_stay() {
    let house = House::new().await;
    let kept_day = house.age(AGE_DAYS + 1).await;
    house.run(&append_long_ago("relayed")).await;
    house.relay_everything().await;
    house
        .run(&append_long_ago("kept").replace(&format!("{AGE_DAYS} days"), &format!("{} days", AGE_DAYS + 1)))
        .await;

    let reconciler =
        Launch::roles(&["reconciler"], Settings::on_database(&house.database).topic_prefix("retention."))
            .start();
    reconciler.logged("dropped a partition").await;
    reconciler.logged("degraded").await;

    let left = "outbox.daily_partitions() WHERE day < (now() AT TIME ZONE 'UTC')::date - 14";
    assert_eq!(house.count(left).await, 3, "the kept day's two, and the batches of the day that went");
    assert_eq!(house.count(&format!("outbox.events_{kept_day}")).await, 1);
    assert!(reconciler.log().tail().contains("outbox-partition-kept"), "{}", reconciler.log().tail());
}

#[tokio::test]
async fn looking_for_a_row_that_was_not_relayed_reads_no_more_than_the_end_of_an_index() {
    let house = House::new().await;
    house
        .run(&format!(
            "INSERT INTO outbox.events (topic, event_id, header_names, header_values, created_at)
             SELECT 't', 'e', '{{}}', '{{}}', now() - interval '{AGE_DAYS} days' FROM generate_series(1, 20000);
             ANALYZE outbox.events"
        ))
        .await;
    house.relay_everything().await;
    // As it is when no transaction of another database of this server is open.
    house.run("UPDATE outbox.cursor SET from_snapshot = format('%1$s:%1$s:', pg_snapshot_xmax(from_snapshot))::pg_snapshot").await;
    let partition = format!("events_{}", house.day);
    let looking = house.database.admin().await;
    let look = format!("BEGIN; SELECT outbox.holds_unrelayed('{partition}')");
    looking.batch_execute(&look).await.expect("an answer");
    // What this session has read so far.
    let read = "SELECT idx_scan, seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = $1";
    let row = looking.query_one(read, &[&partition]).await.expect("the statistics answer");
    let counts: Vec<i64> = (0..3).map(|column| row.get(column)).collect();
    assert_eq!(counts, [1, 0, 0], "one probe of an index, and neither a scan nor a row");
}
