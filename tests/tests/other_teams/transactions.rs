//! What becomes of rows whose transactions end otherwise than by a plain commit.

use waybill_testkit::TestTopics;

use crate::fixtures::{Team, delivered, event, outbox, text};

#[tokio::test]
async fn rows_of_an_aborted_subtransaction_are_never_sent_and_the_rest_of_the_transaction_is() {
    let team = Team::with_outbox().await;
    let topics = TestTopics::fresh();
    let topic = topics.create("shop.orders", 1).await;
    let _relay = team.relay(&topics);
    let mut writer = team.writer().await;
    let mut tx = writer.transaction().await.expect("begun");
    outbox().append(&tx, &event(&topic, "k", "before")).await.expect("appended");
    let aborted = tx.savepoint("aborted").await.expect("a savepoint");
    outbox().append(&aborted, &event(&topic, "k", "taken back")).await.expect("appended");
    aborted.rollback().await.expect("rolled back");
    let kept = tx.savepoint("kept").await.expect("a savepoint");
    outbox().append(&kept, &event(&topic, "k", "inside")).await.expect("appended");
    kept.commit().await.expect("released");
    outbox().append(&tx, &event(&topic, "k", "after")).await.expect("appended");
    tx.commit().await.expect("committed");
    outbox().append(&writer, &event(&topic, "k", "last")).await.expect("appended");

    let sent: Vec<String> = delivered(&topic, 4).await.iter().map(text).collect();

    assert_eq!(sent, ["before", "inside", "after", "last"]);
}

#[tokio::test]
async fn rows_of_a_prepared_transaction_are_sent_when_it_commits_and_hold_up_nobody_until_then() {
    let team = Team::with_outbox().await;
    let topics = TestTopics::fresh();
    let topic = topics.create("shop.orders", 1).await;
    let _relay = team.relay(&topics);
    // The names of prepared transactions are the whole server's.
    let [decided, dropped] = ["decided", "dropped"].map(|name| format!("{name}_{}", team.database.name()));
    for name in [&decided, &dropped] {
        let writer = team.writer().await;
        writer.batch_execute("BEGIN").await.expect("begun");
        outbox().append(&writer, &event(&topic, name, name)).await.expect("appended");
        writer.batch_execute(&format!("PREPARE TRANSACTION '{name}'")).await.expect("prepared");
    }
    let writer = team.writer().await;
    for n in 1..=3 {
        outbox().append(&writer, &event(&topic, "other", &format!("other {n}"))).await.expect("appended");
    }
    let sent: Vec<String> = delivered(&topic, 3).await.iter().map(text).collect();
    assert_eq!(sent, ["other 1", "other 2", "other 3"], "nothing of what is undecided");

    team.run(&format!("ROLLBACK PREPARED '{dropped}'")).await;
    team.run(&format!("COMMIT PREPARED '{decided}'")).await;

    let sent: Vec<String> = delivered(&topic, 4).await.iter().map(text).collect();
    assert_eq!(sent[3..], [decided]);
}
