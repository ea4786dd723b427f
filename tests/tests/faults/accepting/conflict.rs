//! Row 8: the transaction that accepts an export loses against another one, once or for ever.

use tokio_postgres::Client;
use waybill_testkit::{Caller, Process, System, connect, eventually};

use super::stored::{accepted, is_told_to_come_again, orders};

/// How often the api begins one acceptance: TRANSACTION_TRIES_MAX.
const TRIES: i64 = 3;

/// Fails so many first facts with a serialization failure. A sequence counts, because nothing rolls it back.
const LOSING: &str = "
    CREATE SEQUENCE public.tries MINVALUE 0 START 0;
    SELECT nextval('public.tries');
    CREATE FUNCTION public.lose() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        IF nextval('public.tries') <= TG_ARGV[0]::bigint THEN
            RAISE EXCEPTION 'of a test' USING ERRCODE = 'serialization_failure';
        END IF;
        RETURN NEW;
    END $$;";

/// With the insert itself, behind everything else that the transaction writes.
const AT_ONCE: &str = "CREATE TRIGGER loses BEFORE INSERT ON export.facts FOR EACH ROW";
/// With COMMIT, where Postgres finds most of them.
const AT_COMMIT: &str = "CREATE CONSTRAINT TRIGGER loses AFTER INSERT ON export.facts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW";

struct Scene {
    system: System,
    admin: Client,
    caller: Caller,
    api: Process,
}

async fn scene() -> Scene {
    let system = System::fresh().await;
    let (api, _operator, caller) = system.called().await;
    let admin = system.database.admin().await;
    Scene { system, admin, caller, api }
}

impl Scene {
    /// From now on so many tries lose.
    async fn lose(&self, when: &str, tries: i64) {
        let losing = format!("{LOSING} {when} EXECUTE FUNCTION public.lose({tries})");
        self.admin.batch_execute(&losing).await.expect("a trigger");
    }

    /// How often a transaction has got as far as its fact.
    async fn tried(&self) -> i64 {
        self.admin.query_one("SELECT last_value FROM public.tries", &[]).await.expect("a count").get(0)
    }

    /// How many of the api's sessions wait for an advisory lock.
    async fn wait_for_advisory_locks(&self) -> i64 {
        let waiting = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND usename = 'waybill_api' AND wait_event = 'advisory'";
        self.admin.query_one(waiting, &[]).await.expect("a count").get(0)
    }
}

#[tokio::test]
async fn an_acceptance_that_loses_fewer_times_than_it_is_tried_is_carried_out_once() {
    for when in [AT_ONCE, AT_COMMIT] {
        let scene = scene().await;
        scene.lose(when, TRIES - 1).await;
        let answer = scene.caller.ask("intent-7", &orders()).await;
        assert_eq!(answer.status, 202, "{when}: {} {}", answer.json(), scene.api.log().tail());
        assert_eq!(scene.tried().await, TRIES, "{when}");
        accepted(&scene.admin, 1).await;
    }
}

#[tokio::test]
async fn an_acceptance_that_always_loses_is_given_up_within_its_bound_and_nothing_of_it_is_stored() {
    for when in [AT_ONCE, AT_COMMIT] {
        let scene = scene().await;
        scene.lose(when, i64::MAX).await;
        let answer = scene.caller.ask("intent-7", &orders()).await;
        is_told_to_come_again(&answer);
        assert_eq!(scene.tried().await, TRIES, "{when}");
        accepted(&scene.admin, 0).await;

        scene.admin.batch_execute("DROP TRIGGER loses ON export.facts").await.expect("dropped");
        let again = scene.caller.ask("intent-7", &orders()).await;
        assert_eq!(again.status, 202, "{when}: {}", again.json());
        accepted(&scene.admin, 1).await;
    }
}

/// Stops each acceptance before its fact, at a barrier (8) and then at what its rival holds (9). The api's session looks for
/// a deadlock at once, so that it is the one that is ended.
const BEFORE_ITS_FACT: &str = "
    CREATE FUNCTION public.meet() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET deadlock_timeout = '10ms' AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(8);
        PERFORM pg_advisory_xact_lock_shared(9);
        RETURN NEW;
    END $$;
    CREATE TRIGGER meets BEFORE INSERT ON export.facts FOR EACH ROW EXECUTE FUNCTION public.meet();
    SELECT pg_advisory_lock(8);";

#[tokio::test]
async fn an_acceptance_that_a_deadlock_ends_is_tried_again_and_carried_out_once() {
    let scene = scene().await;
    scene.admin.batch_execute(BEFORE_ITS_FACT).await.expect("a barrier");
    let rival = connect(&scene.system.database.admin_url()).await;
    let first = "SET deadlock_timeout = '1h'; BEGIN; SELECT pg_advisory_xact_lock(9)";
    rival.batch_execute(first).await.expect("the rival has its first lock");
    let asking = tokio::spawn({
        let caller = scene.caller.clone();
        async move { caller.ask("intent-7", &orders()).await }
    });
    eventually("the acceptance to have its tenant's turn and stand at the barrier", async || {
        (scene.wait_for_advisory_locks().await == 1).then_some(())
    })
    .await;

    // The same lock by which an acceptance takes its turn.
    let turn = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    let tenant_id = scene.caller.tenant_id().to_owned();
    let rivalry = tokio::spawn(async move {
        rival.query_one(turn, &[&tenant_id]).await.expect("the rival is not the one that is ended");
        rival.batch_execute("COMMIT").await.expect("committed");
    });
    let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    eventually("the rival to wait for the turn", async || {
        let waiting: i64 = scene.admin.query_one(waits, &[]).await.expect("a count").get(0);
        (waiting == 2).then_some(())
    })
    .await;
    scene.admin.batch_execute("SELECT pg_advisory_unlock(8)").await.expect("the barrier is open");

    rivalry.await.expect("no panic");
    let answer = asking.await.expect("no panic");
    assert_eq!(answer.status, 202, "{}: {}", answer.json(), scene.api.log().tail());
    accepted(&scene.admin, 1).await;
    let ended = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    eventually("the server to have counted the deadlock", async || {
        let deadlocks: i64 = scene.admin.query_one(ended, &[]).await.expect("a count").get(0);
        (deadlocks == 1).then_some(())
    })
    .await;
}
