//! The declared topics are the ones that the code uses, and no declaration passes that Kafka would refuse.

use waybill_contract::Topics;
use waybill_contract::topics::{self, COMMANDS, Durability, EVENTS, TopicsError};

const SOUND: &str = r#"
[[topic]]
name = "a"
doc = "b"
partitions = 1
replication_factor = 3
min_insync_replicas = 2
cleanup = "delete"
retention_ms = -1
message_bytes_max = 1_048_576
"#;

#[test]
fn both_topics_are_declared_and_take_the_largest_payload() {
    let declared = topics::declared().unwrap();
    let names: Vec<&str> = declared.iter().map(|topic| topic.name.as_str()).collect();
    assert_eq!(names, [COMMANDS, EVENTS]);
    for topic in declared {
        assert_eq!(topic.partitions, 6);
        assert_eq!(topic.kafka_settings(3)["cleanup.policy"], "delete");
    }
}

#[test]
fn a_prefix_stands_before_both_names() {
    let topics = Topics::with_prefix("staging-");
    assert_eq!(topics.commands, "staging-waybill.export.commands");
    assert_eq!(topics.events, "staging-waybill.export.events");
    assert!(topics::check_name(&topics.events).is_ok());
    assert!(topics::check_name("with space").is_err());
    assert!(topics::check_name(&"a".repeat(250)).is_err());
}

#[test]
fn only_a_single_broker_is_let_off_the_declared_copies() {
    let topic = &topics::parse(SOUND).unwrap()[0];
    assert_eq!(topic.durability(1), Durability { replication_factor: 1, min_insync_replicas: 1 });
    for brokers in [0, 2, 3, 9] {
        assert_eq!(topic.durability(brokers), Durability { replication_factor: 3, min_insync_replicas: 2 });
    }
    assert_eq!(topic.kafka_settings(1)["min.insync.replicas"], "1");
    assert_eq!(topic.kafka_settings(3)["min.insync.replicas"], "2");
    assert_eq!(topic.kafka_settings(3)["retention.ms"], "-1");
    assert_eq!(topic.kafka_settings(3)["max.message.bytes"], "1048576");
}

#[test]
fn unknown_keys_are_refused() {
    assert!(matches!(topics::parse(&format!("{SOUND}\nretention = 3")), Err(TopicsError::Toml(_))));
    assert!(matches!(topics::parse(&format!("version = 1\n{SOUND}")), Err(TopicsError::Toml(_))));
}

#[test]
fn declarations_that_contradict_themselves_are_refused() {
    let changes = [
        ("name = \"a\"", "name = \"a b\""),
        ("doc = \"b\"", "doc = \"\""),
        ("partitions = 1", "partitions = 0"),
        ("min_insync_replicas = 2", "min_insync_replicas = 4"),
        ("min_insync_replicas = 2", "min_insync_replicas = 0"),
        ("retention_ms = -1", "retention_ms = -2"),
        ("message_bytes_max = 1_048_576", "message_bytes_max = 1000"),
        ("message_bytes_max = 1_048_576", "message_bytes_max = -1"),
        ("retention_ms = -1", "retention_ms = -1\nsettings = { \"retention.ms\" = \"1\" }"),
    ];
    for (from, to) in changes {
        let refused = topics::parse(&SOUND.replace(from, to));
        assert!(matches!(refused, Err(TopicsError::Contradiction { .. })), "{to} was taken");
    }
    assert!(matches!(topics::parse(&SOUND.repeat(2)), Err(TopicsError::Contradiction { .. })));
}
