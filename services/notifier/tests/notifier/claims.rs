//! Claims that stall: what was never begun is never unknown.

use tokio_postgres::Client;
use waybill_domain::export::Channel;
use waybill_notifier::Watch;
use waybill_runtime::{Health, Role};
use waybill_testkit::{TestDatabase, eventually, within};

use crate::fixtures::{AMPLE, mail_channel, pace, pool};
use crate::sending::{Running, settled, start};
use crate::smtp_server::{Script, serve};
use crate::stored::make;

/// Makes whoever writes an attempt wait for a lock that `admin` holds: within the INSERT, or in the commit.
async fn stall(admin: &Client, when: &str) {
    admin
        .batch_execute(&format!(
            "CREATE FUNCTION notify.wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NEW; END $$; \
             {when} ON notify.attempts {deferred} FOR EACH ROW EXECUTE FUNCTION notify.wait_at_the_gate(); \
             SELECT pg_advisory_lock(7)",
            deferred = if when.contains("CONSTRAINT") { "INITIALLY DEFERRED" } else { "" },
        ))
        .await
        .expect("a gate");
}

async fn open_the_gate(admin: &Client) {
    admin.execute("SELECT pg_advisory_unlock(7)", &[]).await.expect("an open gate");
}

/// Waits until the sender says that its claim failed, and gives what it says.
async fn failed_claim(running: &Running) -> String {
    eventually("the claim's failure", || async {
        let reasons = running.health.report().reasons;
        reasons.into_iter().find(|reason| reason.component == "claim").map(|reason| reason.detail)
    })
    .await
}

async fn attempts(admin: &Client) -> Vec<String> {
    let rows = admin.query("SELECT state FROM notify.attempts ORDER BY attempt", &[]).await.expect("a look");
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn a_claim_that_stalls_in_its_insert_does_not_stand_later() {
    let (database, mail) = (TestDatabase::fresh().await, listener().await);
    let (pool, admin) = (pool(&database), database.admin().await);
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    stall(&admin, "CREATE TRIGGER gate BEFORE INSERT").await;
    let running = start(&pool, mail_channel(mail.local_addr().unwrap()), AMPLE);
    let detail = failed_claim(&running).await;
    assert!(detail.contains("statement timeout"), "the database gave up first: {detail}");
    assert!(attempts(&admin).await.is_empty(), "nothing is taken");
    open_the_gate(&admin).await;
    let (stream, _) = within("the mail", mail.accept()).await.unwrap();
    serve(stream, Script::ACCEPTING).await;
    assert_eq!(settled(&database).await.0, "accepted");
    running.stop().await;
    assert_eq!(attempts(&admin).await, ["accepted"], "the claim that stalled left no attempt");
}

#[tokio::test]
async fn a_claim_whose_commit_comes_after_its_answer_was_given_up_is_due_again_and_sent() {
    let (database, mail) = (TestDatabase::fresh().await, listener().await);
    let (pool, admin) = (pool(&database), database.admin().await);
    make(&pool, Channel::Email, "ann@example.com", 1).await;
    stall(&admin, "CREATE CONSTRAINT TRIGGER gate AFTER INSERT").await;
    let running = start(&pool, mail_channel(mail.local_addr().unwrap()), AMPLE);
    let detail = failed_claim(&running).await;
    assert!(detail.contains("may stand"), "{detail}");
    // The sender has looked for its claim while there was nothing to find.
    returned_in_vain(&admin).await;
    open_the_gate(&admin).await;
    let (stream, _) = within("the mail", mail.accept()).await.unwrap();
    serve(stream, Script::ACCEPTING).await;
    assert_eq!(settled(&database).await.0, "accepted");
    running.stop().await;
    assert_eq!(attempts(&admin).await, ["retry", "accepted"]);
    let watch = Watch::new(pool.clone(), Health::new(Role::Notifier), Vec::new(), pace(AMPLE).poll_interval);
    assert_eq!(watch.look().await.unwrap().unknown, 0);
}

async fn listener() -> tokio::net::TcpListener {
    tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port")
}

/// Waits until the sender has looked for the claim that hangs in its commit: it does so before each further claim, and one
/// has ended on a connection that is younger than that commit.
async fn returned_in_vain(admin: &Client) {
    eventually("a look for the claim", || async {
        let row = admin
            .query_opt(
                "SELECT 1 FROM pg_stat_activity AS later, pg_stat_activity AS hanging \
                 WHERE hanging.datname = current_database() AND hanging.usename = 'waybill_notifier' \
                 AND hanging.state = 'active' AND hanging.query = 'COMMIT' \
                 AND later.datname = hanging.datname AND later.usename = hanging.usename \
                 AND later.state = 'idle' AND later.query = 'COMMIT' AND later.backend_start > hanging.query_start LIMIT 1",
                &[],
            )
            .await;
        row.expect("a look")
    })
    .await;
}
