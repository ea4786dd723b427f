//! The database of exports goes away while an attempt records what it has made.

use std::time::Duration;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;
use waybill_testkit::{eventually, within};
use waybill_worker::{Claimed, DatabaseError, Outcome, Settled, Worker, claim_next, complete, execute};

use crate::fencing::{PROGRESS, verified};
use crate::house::House;

/// Longer than any test.
const LEASE: Duration = Duration::from_secs(600);

/// Tries in vain before the database is back: five seconds of the product's own waits, as long as a restart takes.
const TURNED_AWAY: u32 = 5;

/// More tries in vain than a worker whose lease is of one second makes before it is over: a heartbeat in a third of it, and
/// those of the record.
const TURNED_AWAY_BEYOND_THE_LEASE: u32 = 9;

const SUCCEEDED_IN_ONE_ATTEMPT: &str =
    "succeeded v2 f1 lost 0 failed 0 result true code - | 1:succeeded:- | 1:selected | 2:succeeded";

/// Each record of an attempt with a file: what is written, and when it is that record.
const RECORDS: [(&str, &str, &str); 3] = [
    ("INSERT ON export.candidates", "NEW.state = 'writing'", "the announcement"),
    ("UPDATE ON export.candidates", "NEW.state = 'verified'", "the verification"),
    ("UPDATE ON export.jobs", "NEW.state = 'succeeded'", "the completion"),
];

/// What becomes of the statement that was under way when its client was cut off.
#[derive(Debug, Clone, Copy)]
enum Orphan {
    /// It ends with its session, as in a restart.
    Dies,
    /// It goes on: an answer that is lost, but perhaps a commit.
    GoesOn,
}

async fn claimed(worker: &Worker) -> Claimed {
    claim_next(worker).await.expect("the database answers").expect("a job is due")
}

impl House {
    /// Holds up whoever makes this record until [`House::let_go`].
    async fn hold_up(&self, statement: &str, condition: &str) {
        let trigger = format!(
            "SELECT pg_advisory_lock(7);
             CREATE FUNCTION shop.wait() RETURNS trigger LANGUAGE plpgsql
                 AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NEW; END';
             CREATE TRIGGER wait BEFORE {statement} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION shop.wait()"
        );
        self.admin.batch_execute(&trigger).await.expect("a trigger that waits");
    }

    async fn let_go(&self) {
        self.admin.batch_execute("SELECT pg_advisory_unlock(7)").await.expect("unlocked");
    }

    /// Waits until somebody is held up.
    async fn is_held_up(&self) {
        let waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        eventually("the record to be under way", async || {
            (!self.admin.query(waiting, &[]).await.expect("an answer").is_empty()).then_some(())
        })
        .await;
    }

    /// Ends the sessions of every worker, and waits until they are gone.
    async fn end_sessions(&self) {
        let end = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
                   WHERE datname = current_database() AND usename = 'waybill_worker'";
        self.admin.batch_execute(end).await.expect("ended");
    }
}

/// Cuts the worker off in the middle of one record, and lets it back once it has tried in vain.
async fn cut_off_at(statement: &str, condition: &str, orphan: Orphan) -> String {
    let house = House::new().await;
    let tenant = house.tenant(1).await;
    house.orders(&tenant, 20).await;
    let export = house.job(&tenant, 1).await;
    let gate = house.gate().await;
    let worker = house.worker_behind(&gate, LEASE);
    let held = claimed(&worker).await;
    house.hold_up(statement, condition).await;

    let stop = CancellationToken::new();
    let attempt = Box::pin(execute(&worker, &held, &stop));
    let outage = async {
        house.is_held_up().await;
        gate.close();
        match orphan {
            Orphan::Dies => house.end_sessions().await,
            Orphan::GoesOn => {}
        }
        house.let_go().await;
        gate.has_turned_away(TURNED_AWAY).await;
        gate.open();
    };
    let (outcome, ()) = within("the attempt ends", async { tokio::join!(attempt, outage) }).await;
    assert_eq!(outcome, Outcome::Succeeded, "{statement} {orphan:?}: {}", house.story(&export).await);
    assert_eq!(house.outbox_rows().await, 1, "{statement} {orphan:?}: one fact");
    house.story(&export).await
}

async fn each_succeeds_in_one_attempt(records: &[(&str, &str, &str)], orphan: Orphan) {
    let cut_off = records.iter().map(async |(statement, condition, record)| {
        let story = cut_off_at(statement, condition, orphan).await;
        assert_eq!(story, SUCCEEDED_IN_ONE_ATTEMPT, "{record}");
    });
    join_all(cut_off).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_in_the_middle_of_a_record_costs_no_attempt() {
    // The sessions that read the data set end too, so only after the COPY: the verification and the completion.
    each_succeeds_in_one_attempt(&RECORDS[1..], Orphan::Dies).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_costs_no_attempt_and_nothing_is_recorded_twice() {
    each_succeeds_in_one_attempt(&RECORDS, Orphan::GoesOn).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_recorded_through_an_outage_too() {
    let house = House::new().await;
    let tenant = house.tenant(1).await;
    house.admin.batch_execute("DROP TABLE shop.orders").await.expect("dropped");
    let export = house.job(&tenant, 1).await;
    let gate = house.gate().await;
    let worker = house.worker_behind(&gate, LEASE);
    let held = claimed(&worker).await;
    house.hold_up("UPDATE ON export.jobs", "NEW.state = 'failed'").await;
    let stop = CancellationToken::new();
    let outage = async {
        house.is_held_up().await;
        gate.close();
        house.end_sessions().await;
        house.let_go().await;
        gate.has_turned_away(TURNED_AWAY).await;
        gate.open();
    };
    let attempt = Box::pin(execute(&worker, &held, &stop));
    let (outcome, ()) = within("the attempt ends", async { tokio::join!(attempt, outage) }).await;
    assert_eq!(outcome, Outcome::Failed);
    assert!(house.story(&export).await.ends_with("2:failed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_that_outlasts_the_lease_leaves_the_job_to_another_worker() {
    let house = House::new().await;
    let export = house.job(&house.tenant(1).await, 1).await;
    let gate = house.gate().await;
    let worker = house.worker_behind(&gate, Duration::from_millis(100));
    let held = claimed(&worker).await;
    let candidate = verified(&house, &held).await;
    gate.close();
    let ended = within("the completion ends", complete(&worker, &held, &candidate, PROGRESS)).await;
    assert!(matches!(ended, Err(DatabaseError::Pool(_))), "{ended:?}");
    house.lapse(&export).await;
    let heir = claimed(&house.worker("heir")).await;
    gate.open();
    let late = complete(&worker, &held, &candidate, PROGRESS).await.expect("an answer");
    assert!(matches!(late, Settled::Fenced(_)), "{late:?}");
    assert_eq!(heir.fence(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_lost_its_lease_in_an_outage_says_so_afterwards_and_did_not_die() {
    let house = House::new().await;
    let tenant = house.tenant(1).await;
    house.orders(&tenant, 20).await;
    let export = house.job(&tenant, 1).await;
    let gate = house.gate().await;
    let worker = house.worker_behind(&gate, Duration::from_secs(1));
    let held = claimed(&worker).await;
    house.hold_up("INSERT ON export.candidates", "NEW.state = 'writing'").await;

    let stop = CancellationToken::new();
    let attempt = Box::pin(execute(&worker, &held, &stop));
    let outage = async {
        house.is_held_up().await;
        gate.close();
        house.let_go().await;
        house.lapse(&export).await;
        gate.has_turned_away(TURNED_AWAY_BEYOND_THE_LEASE).await;
        gate.open();
    };
    let (outcome, ()) = within("the attempt ends", async { tokio::join!(attempt, outage) }).await;
    assert_eq!(outcome, Outcome::FailedTransiently, "{}", house.story(&export).await);
    let story = house.story(&export).await;
    assert!(story.starts_with("pending v1 f1 lost 0 failed 1"), "{story}");
    assert!(story.contains("1:failed:lease-lost"), "{story}");
}
