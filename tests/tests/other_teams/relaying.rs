//! One relay for the product's own outbox and those of others.

use serde_json::Value;
use waybill_outbox::Outbox;
use waybill_testkit::{Launch, ROLE_PASSWORD, Settings, TestTopics, eventually};

use crate::fixtures::{RELAY, Team, delivered, event, outbox, text};

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

/// The same deployment, with another outbox of the team's.
fn with_outbox(settings: Settings, team: &Team, name: &str) -> Settings {
    let key = |part: &str| format!("relay.outboxes.{name}.{part}");
    settings
        .set(&key("url"), team.database.plain_url())
        .set(&key("schema"), name)
        .set(&key("user"), RELAY)
        .set(&key("password"), ROLE_PASSWORD)
}

#[tokio::test]
async fn an_outbox_that_is_missing_or_of_an_unknown_version_is_said_and_left_alone_until_it_is_known() {
    let team = Team::with_outbox().await;
    let topics = TestTopics::fresh();
    let topic = topics.create("theirs", 1).await;
    team.install_in("newer").await;
    team.run("INSERT INTO newer.schema_history (version, name) VALUES (99, 'tomorrow')").await;
    team.run(&format!(
        "CREATE SCHEMA theirs;
         CREATE TABLE theirs.schema_history (version integer, name text);
         INSERT INTO theirs.schema_history VALUES (1, 'users');
         GRANT USAGE ON SCHEMA theirs TO {RELAY};
         GRANT SELECT ON theirs.schema_history TO {RELAY}"
    ))
    .await;
    let mut settings = team.settings(&topics);
    for name in ["later", "newer", "theirs"] {
        settings = with_outbox(settings, &team, name);
    }
    let relay = Launch::roles(&["relay"], settings).start();
    let writer = team.writer().await;
    outbox().append(&writer, &event(&topic, "k", "of shop")).await.expect("appended");
    let newer = Outbox::in_schema("newer").expect("a plain name");
    newer.append(&writer, &event(&topic, "k", "of newer")).await.expect("appended");
    delivered(&topic, 1).await;

    let wanted = [
        ("outbox later: database", "relay-outbox-missing"),
        ("outbox newer: database", "relay-outbox-version-unknown"),
        ("outbox theirs: database", "relay-outbox-missing"),
    ];
    let wanted = wanted.map(|(component, code)| [component, code].map(str::to_owned));
    let said = async || {
        let reasons = relay.reasons().await;
        let of = |reason: &Value, member: &str| reason[member].as_str().unwrap_or_default().to_owned();
        reasons
            .iter()
            .map(|reason| ["component", "code"].map(|member| of(reason, member)))
            .collect::<Vec<_>>()
    };
    eventually("each is said", async || (said().await == wanted).then_some(())).await;
    assert_eq!(team.count("newer.cursor WHERE fence = 0").await, 1, "no lease of what is not known");

    team.run("DELETE FROM newer.schema_history WHERE version = 99").await;
    team.install_in("later").await;
    let later = Outbox::in_schema("later").expect("a plain name");
    later.append(&writer, &event(&topic, "k", "of later")).await.expect("appended");
    let mut sent: Vec<String> = delivered(&topic, 3).await.iter().map(text).collect();
    sent.sort();
    assert_eq!(sent, ["of later", "of newer", "of shop"]);
    eventually("they are taken back", async || (said().await == wanted[2..]).then_some(())).await;
}
