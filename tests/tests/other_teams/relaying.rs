//! One relay for the product's own outbox and those of others.

use waybill_outbox::Outbox;
use waybill_testkit::{Launch, TestTopics};

use crate::fixtures::{Team, delivered, event, outbox, text};

#[tokio::test]
async fn one_relay_sends_the_products_outbox_and_a_teams_though_the_database_of_a_third_is_away() {
    let team = Team::with_outbox().await;
    let topics = TestTopics::fresh();
    let (own, theirs) = (topics.create("own", 1).await, topics.create("theirs", 1).await);
    let settings = team
        .settings(&topics)
        .set("relay.outboxes.away.url", "postgres://127.0.0.1:1/away")
        .set("relay.outboxes.away.schema", "outbox")
        .set("relay.outboxes.away.user", "nobody");
    let _relay = Launch::roles(&["relay"], settings).start();
    let (product, writer) = (team.product.role("api").await, team.writer().await);
    for n in 1..=3 {
        let text = n.to_string();
        Outbox::default().append(&product, &event(&own, "k", &text)).await.expect("appended");
        outbox().append(&writer, &event(&theirs, "k", &text)).await.expect("appended");
    }
    for topic in [own, theirs] {
        let sent: Vec<String> = delivered(&topic, 3).await.iter().map(text).collect();
        assert_eq!(sent, ["1", "2", "3"], "{topic}");
    }
}
