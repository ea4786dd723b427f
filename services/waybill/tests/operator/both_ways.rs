//! The product's own outbox, once through the api and once over a connection of the command's own: one answer, one refusal.

use serde_json::Value;
use waybill_testkit::System;

use crate::parked::PARKED;
use crate::shell::{Shell, caller};

/// What is of the moment, of the connection or of the actor, and not of the outbox.
const FLEETING: [&str; 8] = [
    "outbox",
    "asked_at",
    "moved_age_ms",
    "oldest_age_ms",
    "cleaning_held_back_by",
    "decided_by",
    "decided_at",
    "resume_requested_at",
];

/// The answer without what is different each time.
fn settled(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(members) => {
            for (name, value) in members {
                *value = if FLEETING.contains(&name.as_str()) { Value::Null } else { settled(value.take()) };
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| *entry = settled(entry.take())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    answer
}

/// An operator who can go either way.
struct House {
    ops: Shell,
    database_url: String,
}

impl House {
    fn directly<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        let place = ["--schema", "outbox", "--database-url", &self.database_url];
        [arguments, &place[..]].concat()
    }

    async fn answers_alike(&self, arguments: &[&str]) {
        let api = settled(self.ops.done(arguments).await);
        let direct = settled(self.ops.done(&self.directly(arguments)).await);
        assert_eq!(direct, api, "{arguments:?}");
    }

    async fn refuses_alike(&self, arguments: &[&str], exit: i32, code: &str) {
        let api = self.ops.error(arguments).await;
        let direct = self.ops.error(&self.directly(arguments)).await;
        assert_eq!((direct.0, direct.1["code"].as_str()), (exit, Some(code)), "{arguments:?}");
        assert_eq!(direct, api, "{arguments:?}");
    }
}

#[tokio::test]
async fn an_outbox_is_shown_drawn_and_refused_alike_through_the_api_and_without_it() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let (ops, ..) = caller(&system, &api, &Shell::at(&api, &system).await).await;
    let admin = system.database.admin().await;
    admin.batch_execute(PARKED).await.expect("parked");
    admin
        .batch_execute("INSERT INTO outbox.topics (topic, topic_id) VALUES ('shop.visits', 'old')")
        .await
        .expect("sent to once");
    let house = House { ops, database_url: system.database.admin_url() };

    house.answers_alike(&["outbox", "status"]).await;
    house.answers_alike(&["parked", "list"]).await;
    house.answers_alike(&["parked", "list", "--limit", "2"]).await;
    house.answers_alike(&["parked", "list", "--state", "refused", "--topic", "shop.orders"]).await;
    house.answers_alike(&["parked", "list", "--state", "sent", "--limit", "1"]).await;
    house.answers_alike(&["parked", "show", "101"]).await;
    for verb in ["retry", "discard"] {
        let row = ["parked", verb, "101", "--reason", "a test", "--dry-run"];
        house.answers_alike(&row).await;
        let many = ["parked", verb, "--topic", "shop.visits", "--reason", "a test", "--dry-run"];
        house.answers_alike(&many).await;
    }
    let accept = ["outbox", "accept-topic", "shop.visits", "--topic-id", "new", "--reason", "a test"];
    house.answers_alike(&[&accept[..], &["--dry-run"]].concat()).await;

    for drawn in [["parked", "list"].as_slice(), &["parked", "show", "101"]] {
        let (api, direct) = (house.ops.run(drawn).await, house.ops.run(&house.directly(drawn)).await);
        assert_eq!(String::from_utf8_lossy(&direct.stdout), String::from_utf8_lossy(&api.stdout));
    }

    let retry = |seq: &'static str| ["parked", "retry", seq, "--reason", "a test"];
    house.refuses_alike(&["parked", "show", "7"], 3, "parked-not-found").await;
    house.refuses_alike(&retry("7"), 3, "parked-not-found").await;
    house.refuses_alike(&retry("102"), 4, "parked-behind").await;
    house.refuses_alike(&["parked", "retry", "101", "--reason", " "], 2, "request-invalid").await;
    let nowhere = ["outbox", "accept-topic", "shop.none", "--topic-id", "new", "--reason", "a test"];
    house.refuses_alike(&nowhere, 3, "topic-unrecorded").await;
    house.ops.done(&["parked", "discard", "101", "--reason", "a test"]).await;
    house.refuses_alike(&retry("101"), 4, "parked-settled").await;
}
