//! The topics of one line: which of them Kafka is known to have, and which stand still.

use std::collections::HashMap;
use std::time::Duration;

use rdkafka::error::RDKafkaErrorCode;
use tokio::time::Instant;
use waybill_topic_identity::{Described, Topic, TopicIdError};

use crate::delivery::{Place, Trouble};
use crate::partitions::Partitions;

/// A topic whose rows wait so long, while other topics' rows are acknowledged, takes nothing.
pub(crate) const STALLED_AFTER: Duration = Duration::from_secs(10);

/// Another topic's acknowledgement says that Kafka works as long as it is no older, or nothing else waited for one.
const EVIDENCE_MAX: Duration = Duration::from_secs(5);

/// Every topic that a row was seen for. A lane is a topic's place among them.
#[derive(Debug, Default)]
pub(crate) struct Topics {
    lanes: Vec<Lane>,
    by_name: HashMap<String, usize>,
    last: usize,
}

/// Where a row goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub(crate) lane: usize,
    pub(crate) partition: i32,
}

#[derive(Debug)]
struct Lane {
    name: String,
    is_known: bool,
    partitions: Partitions,
    unacknowledged: usize,
    waiting_since: Instant,
    acknowledged_at: Option<Instant>,
}

impl Topics {
    /// The lane of a topic, a new one if there is none.
    pub(crate) fn lane(&mut self, name: &str) -> usize {
        // Rows of one topic come in runs.
        if self.lanes.get(self.last).is_some_and(|lane| lane.name == name) {
            return self.last;
        }
        self.last = self.by_name.get(name).copied().unwrap_or_else(|| {
            let lane = self.lanes.len();
            self.by_name.insert(name.to_owned(), lane);
            self.lanes.push(Lane {
                name: name.to_owned(),
                is_known: false,
                partitions: Partitions::default(),
                unacknowledged: 0,
                waiting_since: Instant::now(),
                acknowledged_at: None,
            });
            lane
        });
        self.last
    }

    /// The topic's name.
    pub(crate) fn name(&self, lane: usize) -> &str {
        self.lanes.get(lane).map_or("", |lane| &lane.name)
    }

    /// The names of the topics that are sent to.
    pub(crate) fn known(&self) -> Vec<String> {
        self.lanes.iter().filter(|lane| lane.is_known).map(|lane| lane.name.clone()).collect()
    }

    /// Whether Kafka has the topic, with the id that is recorded.
    pub(crate) fn is_known(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_some_and(|lane| lane.is_known)
    }

    /// Notes that it does, and with how many partitions.
    pub(crate) fn found(&mut self, name: &str, partitions: usize) {
        let lane = self.lane(name);
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.is_known = true;
            lane.partitions.found(partitions);
        }
    }

    /// Whether the topic has more partitions than were known.
    pub(crate) fn has_grown(&self, lane: usize, partitions: usize) -> bool {
        self.lanes.get(lane).is_some_and(|lane| lane.is_known && lane.partitions.count() < partitions)
    }

    /// Where a row of a known topic goes.
    pub(crate) fn target(&self, lane: usize, key: Option<&[u8]>, seq: i64) -> Target {
        let partition = self.lanes.get(lane).map_or(0, |lane| lane.partitions.of(key, seq));
        Target { lane, partition }
    }

    /// Whether a row may be handed to the producer now.
    pub(crate) fn may_send(&self, target: Target, now: Instant) -> bool {
        self.lanes.get(target.lane).is_some_and(|lane| lane.partitions.may_send(target.partition, now))
    }

    /// Forgets what is known of a topic: it is asked for before its next row.
    pub(crate) fn forget(&mut self, lane: usize) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.is_known = false;
            lane.partitions.forget();
        }
    }

    /// Notes that a row waits for its acknowledgement from now on.
    pub(crate) fn waits(&mut self, lane: usize, now: Instant) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            if lane.unacknowledged == 0 {
                lane.waiting_since = now;
            }
            lane.unacknowledged += 1;
        }
    }

    /// Notes that a row was handed to the producer.
    pub(crate) fn sent(&mut self, target: Target, now: Instant) {
        if let Some(lane) = self.lanes.get_mut(target.lane) {
            lane.partitions.sent(target.partition, now);
        }
    }

    /// Notes an acknowledgement, and answers whether it can be one, and of the topic that was sent to before.
    pub(crate) fn acknowledged(&mut self, lane: usize, place: Place, now: Instant) -> bool {
        let Some(lane) = self.lanes.get_mut(lane) else { return true };
        lane.unacknowledged = lane.unacknowledged.saturating_sub(1);
        lane.waiting_since = now;
        lane.acknowledged_at = Some(now);
        lane.partitions.acknowledged(place)
    }

    /// Notes that nothing is in flight any more.
    pub(crate) fn abandon(&mut self) {
        for lane in &mut self.lanes {
            lane.unacknowledged = 0;
            lane.partitions.abandon();
        }
    }

    /// Notes that another producer sends from now on.
    pub(crate) fn begin(&mut self) {
        for lane in &mut self.lanes {
            lane.partitions.begin();
        }
    }

    /// The topics that take nothing while others do.
    pub(crate) fn stalled(&self, now: Instant) -> Vec<usize> {
        let is_stalled = |lane: &Lane| {
            lane.unacknowledged > 0
                && now.duration_since(lane.waiting_since) >= STALLED_AFTER
                && self.lanes.iter().any(|other| other.shows_since(lane.waiting_since, now))
        };
        self.lanes.iter().enumerate().filter(|(_, lane)| is_stalled(lane)).map(|(index, _)| index).collect()
    }
}

impl Lane {
    /// Whether this topic's acknowledgements show that Kafka works although another topic waits since then. When everything
    /// else was acknowledged, nothing newer can be expected.
    fn shows_since(&self, waiting_since: Instant, now: Instant) -> bool {
        self.acknowledged_at.is_some_and(|at| {
            at > waiting_since && (self.unacknowledged == 0 || now.duration_since(at) <= EVIDENCE_MAX)
        })
    }
}

/// What is known of a topic after Kafka was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identified {
    /// It is there, with the recorded id or the first one.
    Is(Topic),
    /// It takes no rows, and why.
    Held { trouble: Trouble, detail: String },
    /// Kafka did not say.
    Unclear { detail: String },
}

/// What follows from what Kafka says about a topic, given the id that is recorded for it.
pub(crate) fn judge(described: Described, recorded: Option<&str>) -> Identified {
    match described {
        Ok(Some(found)) => match recorded.filter(|recorded| *recorded != found.id) {
            Some(recorded) => Identified::Held {
                trouble: Trouble::Recreated,
                detail: format!("its id is {}, and rows were sent to the one with id {recorded}", found.id),
            },
            None => Identified::Is(found),
        },
        Ok(None) => Identified::Held {
            trouble: Trouble::Missing,
            detail: "Kafka has no topic of that name".to_owned(),
        },
        Err(TopicIdError::Kafka(code @ RDKafkaErrorCode::TopicAuthorizationFailed)) => {
            Identified::Held { trouble: Trouble::Unauthorised, detail: code.to_string() }
        }
        Err(TopicIdError::Kafka(code @ RDKafkaErrorCode::InvalidTopic)) => {
            Identified::Held { trouble: Trouble::Forbidden, detail: code.to_string() }
        }
        Err(error) => Identified::Unclear { detail: waybill_runtime::chain(&error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn place(partition: i32, offset: i64) -> Place {
        Place { partition, offset }
    }

    fn topic(id: &str) -> Topic {
        Topic { id: id.to_owned(), partitions: 1 }
    }

    #[test]
    fn a_topic_that_stands_still_is_found_by_the_others_that_do_not() {
        let (mut topics, start) = (Topics::default(), Instant::now());
        let (one, two) = (topics.lane("one"), topics.lane("two"));
        topics.waits(one, start);
        topics.waits(two, start);
        assert!(topics.stalled(start + STALLED_AFTER).is_empty(), "nothing says that Kafka works");
        topics.acknowledged(two, place(0, 0), start + SECOND);
        assert_eq!(topics.stalled(start + STALLED_AFTER), [one]);
        assert!(topics.stalled(start + STALLED_AFTER - SECOND).is_empty(), "it may be slow");
    }

    #[test]
    fn an_outage_of_everything_is_no_topics_trouble() {
        let (mut topics, start) = (Topics::default(), Instant::now());
        let (one, two) = (topics.lane("one"), topics.lane("two"));
        topics.waits(one, start);
        topics.acknowledged(one, place(0, 0), start);
        topics.waits(two, start);
        topics.waits(two, start);
        topics.acknowledged(two, place(0, 0), start + SECOND);
        topics.waits(one, start + SECOND);
        assert!(topics.stalled(start + STALLED_AFTER * 3).is_empty());
    }

    #[test]
    fn a_topic_is_found_by_its_name_and_known_to_grow() {
        let mut topics = Topics::default();
        let lanes: Vec<_> = ["one", "two", "one", "three", "two"].map(|name| topics.lane(name)).into();
        assert_eq!(lanes, [0, 1, 0, 2, 1]);
        assert!(!topics.has_grown(0, 6), "nothing is known of it");
        topics.found("one", 3);
        assert!(topics.has_grown(0, 6) && !topics.has_grown(0, 3));
        assert_eq!(topics.known(), ["one"]);
        topics.forget(0);
        assert!(!topics.is_known(0));
    }

    #[test]
    fn an_id_other_than_the_recorded_one_holds_the_topic() {
        assert_eq!(judge(Ok(Some(topic("a"))), None), Identified::Is(topic("a")));
        assert_eq!(judge(Ok(Some(topic("a"))), Some("a")), Identified::Is(topic("a")));
        let trouble = |identified| match identified {
            Identified::Held { trouble, .. } => Some(trouble),
            Identified::Is(_) | Identified::Unclear { .. } => None,
        };
        assert_eq!(trouble(judge(Ok(Some(topic("b"))), Some("a"))), Some(Trouble::Recreated));
        assert_eq!(trouble(judge(Ok(None), Some("a"))), Some(Trouble::Missing));
        let refused = |code| judge(Err(TopicIdError::Kafka(code)), None);
        assert_eq!(trouble(refused(RDKafkaErrorCode::TopicAuthorizationFailed)), Some(Trouble::Unauthorised));
        assert_eq!(
            trouble(refused(RDKafkaErrorCode::OperationTimedOut)),
            None,
            "Kafka is away, not the topic"
        );
    }
}
