//! Who holds back cleaning, as the relay's own role is shown it.

use tokio_postgres::{Client, SimpleQueryMessage};
use waybill_outbox::status::{Horizon, horizon};
use waybill_testkit::eventually;

use crate::fixtures::Outbox;

/// A session of its own, and its process id.
async fn session(outbox: &Outbox) -> (Client, i32) {
    let session = outbox.database.admin().await;
    let pid = session.query_one("SELECT pg_backend_pid()", &[]).await.expect("its pid").get(0);
    (session, pid)
}

/// Takes a snapshot to which this transaction is the oldest: that of another database may be older for a moment.
async fn see(session: &Client, xid: &str) {
    eventually("a snapshot", async || {
        session.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await.expect("begun");
        let seen = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text";
        let seen: String = session.query_one(seen, &[]).await.expect("a snapshot").get(0);
        if seen != xid {
            session.batch_execute("ROLLBACK").await.expect("rolled back");
        }
        (seen == xid).then_some(())
    })
    .await;
}

fn is_session(found: Option<&Horizon>, pid: i32) -> bool {
    found.is_some_and(|found| found.kind == "session" && found.name.starts_with(&format!("{pid} ")))
}

#[tokio::test]
async fn whoever_has_the_oldest_transaction_is_named_before_whoever_only_sees_it() {
    let outbox = Outbox::new().await;
    let relay = outbox.relay_role().await;
    let look = async || horizon(&relay).await.expect("the database answers");
    assert_eq!(look().await, None);

    // A snapshot on either side, so that the order of the sessions decides nothing.
    let (before, before_pid) = session(&outbox).await;
    let (writer, writer_pid) = session(&outbox).await;
    let (after, after_pid) = session(&outbox).await;
    // Without a portal that is left open, and would keep a snapshot of its own.
    let begun = writer.simple_query("BEGIN; SELECT pg_current_xact_id()::text").await.expect("begun");
    let xid = begun.iter().find_map(|message| {
        let SimpleQueryMessage::Row(row) = message else { return None };
        row.get(0)
    });
    let xid = xid.expect("an id").to_owned();
    see(&before, &xid).await;
    see(&after, &xid).await;
    let held = look().await;
    assert!(is_session(held.as_ref(), writer_pid), "{held:?}, not {writer_pid}");
    assert_eq!(held.map(|held| held.xid), Some(xid.clone()));

    writer.batch_execute("COMMIT").await.expect("committed");
    let kept = look().await;
    assert!(is_session(kept.as_ref(), before_pid) || is_session(kept.as_ref(), after_pid), "{kept:?}");
    assert_eq!(kept.map(|kept| kept.xid), Some(xid), "their snapshots keep what it kept");
    for session in [&before, &after] {
        session.batch_execute("COMMIT").await.expect("committed");
    }
    assert_eq!(look().await, None);
}

#[tokio::test]
async fn a_forgotten_prepared_transaction_is_named_as_it_was_prepared() {
    let outbox = Outbox::new().await;
    let relay = outbox.relay_role().await;
    let gid = outbox.database.name();
    outbox.run(&format!("BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION '{gid}'")).await;
    let held = horizon(&relay).await.expect("the database answers").expect("a holder");
    assert_eq!((held.kind.as_str(), held.name.as_str()), ("prepared transaction", gid));
    outbox.run(&format!("ROLLBACK PREPARED '{gid}'")).await;
    assert_eq!(horizon(&relay).await.expect("the database answers"), None);
}
