//! Row 7: Postgres turns read-only, under connections that were made before or in the middle of an acceptance.

use std::collections::BTreeSet;

use tokio_postgres::Client;
use waybill_testkit::{PrivatePostgres, System, connect, eventually, id_of};

use super::stored::{accepted, is_told_to_come_again, orders};

/// The api's sessions that answer requests: not the one that listens.
async fn sessions(admin: &Client) -> BTreeSet<i32> {
    let sessions = "SELECT pid FROM pg_stat_activity
                    WHERE datname = current_database() AND usename = 'waybill_api' AND NOT starts_with(query, 'LISTEN')";
    let rows = admin.query(sessions, &[]).await.expect("the sessions");
    rows.iter().map(|row| row.get(0)).collect()
}

/// Turns the whole server read-only, or writable again. Sessions that there are turn with it.
async fn set_read_only(server: &PrivatePostgres, is_read_only: bool) {
    let db = connect(&server.url()).await;
    let value = if is_read_only { "on" } else { "off" };
    db.batch_execute("SET default_transaction_read_only = off").await.expect("set");
    let turned = format!("ALTER SYSTEM SET default_transaction_read_only = {value}");
    db.batch_execute(&turned).await.expect("changed");
    db.batch_execute("SELECT pg_reload_conf()").await.expect("reloaded");
    eventually("the server to have read it", async || {
        let other = connect(&server.url()).await;
        let now = other.query_one("SHOW default_transaction_read_only", &[]).await.expect("a setting");
        (now.get::<_, String>(0) == value).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_turned_read_only_is_an_outage_to_callers_and_each_connection_of_before_is_let_go() {
    let server = PrivatePostgres::start(&[]);
    let system = System::on_server(&server.url()).await;
    let (api, _operator, caller) = system.called().await;
    let admin = system.database.admin().await;
    caller.export("before").await;
    let before = sessions(&admin).await;
    assert!(!before.is_empty());

    set_read_only(&server, true).await;
    for intent in ["during", "during", "before"] {
        let answer = caller.ask(intent, &orders()).await;
        is_told_to_come_again(&answer);
        assert_eq!(answer.code(), "database-unavailable");
    }
    accepted(&admin, 1).await;
    eventually("every session of before to be let go", async || {
        sessions(&admin).await.is_disjoint(&before).then_some(())
    })
    .await;
    set_read_only(&server, false).await;

    let after = caller.ask("during", &orders()).await;
    assert_eq!(after.status, 202, "{}: {}", after.json(), api.log().tail());
    accepted(&admin, 2).await;
}

/// The transaction turns read-only behind its command and before its fact, as it would if its server were demoted under it.
const HALF_WAY: &str = "
    CREATE FUNCTION public.demote() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM set_config('transaction_read_only', 'on', true);
        RETURN NULL;
    END $$;
    CREATE TRIGGER demotes AFTER INSERT ON export.commands FOR EACH ROW EXECUTE FUNCTION public.demote();";

#[tokio::test]
async fn an_acceptance_that_finds_itself_read_only_half_way_leaves_nothing_and_is_accepted_once_later() {
    let system = System::fresh().await;
    let (api, _operator, caller) = system.called().await;
    let admin = system.database.admin().await;
    admin.batch_execute(HALF_WAY).await.expect("a trigger");

    for _ in 0..2 {
        let answer = caller.ask("intent-7", &orders()).await;
        is_told_to_come_again(&answer);
        assert_eq!(answer.code(), "database-unavailable", "{}", api.log().tail());
        accepted(&admin, 0).await;
    }
    admin.batch_execute("DROP TRIGGER demotes ON export.commands").await.expect("dropped");
    let answer = caller.ask("intent-7", &orders()).await;
    assert_eq!(answer.status, 202, "{}", answer.json());
    let again = caller.ask("intent-7", &orders()).await;
    assert_eq!((again.status.as_u16(), id_of(&again.json())), (200, id_of(&answer.json())));
    accepted(&admin, 1).await;
}
