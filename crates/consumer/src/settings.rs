//! The settings of the clients: the caller's, under those that positions depend on.

use rdkafka::ClientConfig;

use crate::options::ConsumerOptions;

/// After that long without a heartbeat a member is out, and its partitions go to others.
const SESSION_TIMEOUT_MS: u32 = 10_000;
/// How soon a member hears that the group rebalances, at most; a rebalance takes two rounds.
const HEARTBEAT_INTERVAL_MS: u32 = 1_000;
/// After that long without a poll a member leaves by itself; also how long a rebalance waits for it.
const POLL_INTERVAL_MAX_MS: u32 = 60_000;
/// How soon a new partition, or a topic that was missing, is noticed.
const METADATA_REFRESH_MS: u32 = 10_000;
/// What the client fetches ahead, over all partitions. A paused partition throws its share away.
const FETCHED_AHEAD_KIB_MAX: u32 = 8 * 1024;

/// Where a caller knows better, it says so in its settings.
const DEFAULTS: &[(&str, u32)] = &[
    ("session.timeout.ms", SESSION_TIMEOUT_MS),
    ("heartbeat.interval.ms", HEARTBEAT_INTERVAL_MS),
    ("max.poll.interval.ms", POLL_INTERVAL_MAX_MS),
    ("topic.metadata.refresh.interval.ms", METADATA_REFRESH_MS),
    ("queued.max.messages.kbytes", FETCHED_AHEAD_KIB_MAX),
];

/// What the promises rest on; nobody may change it.
const FIXED: &[(&str, &str)] = &[
    ("enable.auto.commit", "false"),
    ("enable.auto.offset.store", "false"),
    ("auto.offset.reset", "error"),
    ("check.crcs", "true"),
    ("isolation.level", "read_committed"),
    ("enable.partition.eof", "false"),
    ("allow.auto.create.topics", "false"),
    // The loop assigns partition by partition, each when its position is known.
    ("partition.assignment.strategy", "cooperative-sticky"),
];

/// The settings of the client that is the group's member.
pub(crate) fn member(options: &ConsumerOptions) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.extend(DEFAULTS.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())));
    config.extend(options.settings.iter().cloned());
    config.extend(FIXED.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    config.set("group.id", &options.group);
    config
}

/// The settings of the client that only asks.
pub(crate) fn inspector(options: &ConsumerOptions) -> ClientConfig {
    let mut config = member(options);
    config.remove("group.id");
    config
}

#[cfg(test)]
mod tests {
    use super::{inspector, member};
    use crate::ConsumerOptions;

    #[test]
    fn a_caller_may_change_timeouts_but_nothing_that_positions_rest_on() {
        let settings =
            [("session.timeout.ms", "6000"), ("auto.offset.reset", "latest"), ("group.id", "other")];
        let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        let options = ConsumerOptions::new("g", "t", settings);
        let config = member(&options);
        assert_eq!(config.get("session.timeout.ms"), Some("6000"));
        assert_eq!(config.get("auto.offset.reset"), Some("error"));
        assert_eq!((config.get("group.id"), inspector(&options).get("group.id")), (Some("g"), None));
    }
}
