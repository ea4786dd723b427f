//! Who keeps an installed outbox in shape: the reconciler of the deployment whose configuration names it.

use waybill_testkit::{Launch, Process, TestTopics, eventually};

use crate::fixtures::{RELAY, SCHEMA, Team};

/// The days ahead of today for which the outbox has partitions of events.
const AHEAD: &str =
    "shop_outbox.daily_partitions() WHERE parent = 'events' AND day > (now() AT TIME ZONE 'UTC')::date";

async fn drop_all_partitions_ahead(team: &Team) {
    team.run(
        "DO $$
         DECLARE
             partition record;
         BEGIN
             FOR partition IN
                 SELECT name FROM shop_outbox.daily_partitions() WHERE day > (now() AT TIME ZONE 'UTC')::date
             LOOP
                 EXECUTE format('DROP TABLE shop_outbox.%I', partition.name);
             END LOOP;
         END
         $$",
    )
    .await;
    assert_eq!(team.count(AHEAD).await, 0);
}

fn reconciler(team: &Team, topics: &TestTopics) -> Process {
    Launch::roles(&["reconciler"], team.settings(topics)).start()
}

#[tokio::test]
async fn partitions_are_made_ahead_in_every_outbox_that_the_configuration_names() {
    let team = Team::with_outbox().await;
    drop_all_partitions_ahead(&team).await;
    let _reconciler = reconciler(&team, &TestTopics::fresh());
    eventually("two weeks of partitions", async || (team.count(AHEAD).await == 14).then_some(())).await;
}

#[tokio::test]
async fn an_outbox_that_runs_short_of_partitions_is_an_alarm_of_its_own() {
    let team = Team::with_outbox().await;
    drop_all_partitions_ahead(&team).await;
    team.run(&format!("REVOKE EXECUTE ON FUNCTION {SCHEMA}.ensure_partitions(integer) FROM {RELAY}")).await;
    let reconciler = reconciler(&team, &TestTopics::fresh());
    let alarm = reconciler.log().event(|event| {
        let about = event.field("component") == Some("partitions of shop");
        (about && event.field("code") == Some("outbox-partitions-low")).then_some(())
    });
    waybill_testkit::within("the alarm", alarm).await;
    let ahead = eventually("the product's own", async || {
        let ahead = "SELECT count(*) FROM outbox.daily_partitions() WHERE parent = 'events'";
        let days: i64 = team.product.admin().await.query_one(ahead, &[]).await.expect("a count").get(0);
        (days >= 15).then_some(days)
    });
    assert_eq!(ahead.await, 15, "today and two weeks, whatever became of the other one");
}
