//! One relay sends several outboxes, and one whose database is away holds up no other.

use waybill_outbox::wake;
use waybill_relay::codes::RELAY_DATABASE_FAILING;
use waybill_testkit::{Settings, eventually};

use crate::fixtures::{House, Outbox, first_occurrences, write};

/// The password of every role of the test servers.
const PASSWORD: &str = "waybill-test";

fn with_outbox(settings: Settings, name: &str, url: &str) -> Settings {
    let key = |part: &str| format!("relay.outboxes.{name}.{part}");
    settings
        .set(&key("url"), url)
        .set(&key("schema"), "outbox")
        .set(&key("user"), "waybill_relay")
        .set(&key("password"), PASSWORD)
}

#[tokio::test(flavor = "multi_thread")]
async fn outboxes_in_several_databases_flow_and_one_that_is_away_is_said_by_its_name() {
    let house = House::new(1).await;
    let other = Outbox::new().await;
    let settings = with_outbox(house.settings(), "billing", &other.database.plain_url());
    // Port 1 is nobody's.
    let settings = with_outbox(settings, "gone", "postgres://127.0.0.1:1/gone");
    let relay = house.relay(&settings);
    house.write("a", "of main").await;
    write(&other.writer, &house.topic, "b", "of billing").await;
    wake(&other.writer).await.expect("notified");
    eventually("both arrive", async || {
        let mut delivered = first_occurrences(&house.delivered().await);
        delivered.sort();
        (delivered == ["of billing", "of main"]).then_some(())
    })
    .await;
    relay.degraded(RELAY_DATABASE_FAILING).await;
    let components: Vec<String> =
        relay.health.report().reasons.into_iter().map(|reason| reason.component).collect();
    assert_eq!(components, ["outbox gone: database"]);
    let fences = "SELECT fence FROM outbox.cursor";
    assert_eq!((house.outbox.number(fences).await, other.number(fences).await), (1, 1), "a lease of its own");
    relay.end().await;
}
