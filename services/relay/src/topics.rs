//! The topics of one line: which of them Kafka is known to have, and which stand still.

use std::time::Duration;

use tokio::time::Instant;
use waybill_topic_identity::{Described, TopicIdError};

use rdkafka::error::RDKafkaErrorCode;

use crate::delivery::{Place, Trouble};

/// A topic whose rows wait so long, while other topics' rows are acknowledged, takes nothing.
pub(crate) const STALLED_AFTER: Duration = Duration::from_secs(10);

/// Another topic's acknowledgement says that Kafka works as long as it is no older, or nothing else waited for one.
const EVIDENCE_MAX: Duration = Duration::from_secs(5);

/// Every topic that a row was seen for. A lane is a topic's place among them.
#[derive(Debug, Default)]
pub(crate) struct Topics {
    lanes: Vec<Lane>,
    last: usize,
}

#[derive(Debug)]
struct Lane {
    name: String,
    is_known: bool,
    /// By partition, the highest offset that was acknowledged.
    ends: Vec<i64>,
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
        self.last = self.lanes.iter().position(|lane| lane.name == name).unwrap_or_else(|| {
            self.lanes.push(Lane {
                name: name.to_owned(),
                is_known: false,
                ends: Vec::new(),
                unacknowledged: 0,
                waiting_since: Instant::now(),
                acknowledged_at: None,
            });
            self.lanes.len() - 1
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

    /// Notes that it does.
    pub(crate) fn found(&mut self, name: &str) {
        let lane = self.lane(name);
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.is_known = true;
        }
    }

    /// Forgets what is known of a topic: it is asked for before its next row.
    pub(crate) fn forget(&mut self, lane: usize) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.is_known = false;
            lane.ends.clear();
        }
    }

    /// Notes that a row was handed to the producer.
    pub(crate) fn sent(&mut self, lane: usize, now: Instant) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            if lane.unacknowledged == 0 {
                lane.waiting_since = now;
            }
            lane.unacknowledged += 1;
        }
    }

    /// Notes an acknowledgement, and answers whether it can be of the topic that was sent to before: offsets only grow,
    /// unless the topic was made again.
    pub(crate) fn acknowledged(&mut self, lane: usize, place: Place, now: Instant) -> bool {
        let Some(lane) = self.lanes.get_mut(lane) else { return true };
        lane.unacknowledged = lane.unacknowledged.saturating_sub(1);
        lane.waiting_since = now;
        lane.acknowledged_at = Some(now);
        let Ok(partition) = usize::try_from(place.partition) else { return true };
        if place.offset < 0 {
            return true;
        }
        if lane.ends.len() <= partition {
            lane.ends.resize(partition + 1, -1);
        }
        match lane.ends.get_mut(partition) {
            Some(end) if *end < place.offset => *end = place.offset,
            Some(_) => return false,
            None => {}
        }
        true
    }

    /// Notes that nothing is in flight any more.
    pub(crate) fn abandon(&mut self) {
        for lane in &mut self.lanes {
            lane.unacknowledged = 0;
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
    Is { topic_id: String },
    /// It takes no rows, and why.
    Held { trouble: Trouble, detail: String },
    /// Kafka did not say.
    Unclear { detail: String },
}

/// What follows from what Kafka says about a topic, given the id that is recorded for it.
pub(crate) fn judge(described: Described, recorded: Option<&str>) -> Identified {
    match described {
        Ok(Some(found)) => match recorded.filter(|recorded| *recorded != found) {
            Some(recorded) => Identified::Held {
                trouble: Trouble::Recreated,
                detail: format!("its id is {found}, and rows were sent to the one with id {recorded}"),
            },
            None => Identified::Is { topic_id: found },
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

    #[test]
    fn a_topic_that_stands_still_is_found_by_the_others_that_do_not() {
        let (mut topics, start) = (Topics::default(), Instant::now());
        let (one, two) = (topics.lane("one"), topics.lane("two"));
        topics.sent(one, start);
        topics.sent(two, start);
        assert!(topics.stalled(start + STALLED_AFTER).is_empty(), "nothing says that Kafka works");
        topics.acknowledged(two, place(0, 0), start + SECOND);
        assert_eq!(topics.stalled(start + STALLED_AFTER), [one]);
        assert!(topics.stalled(start + STALLED_AFTER - SECOND).is_empty(), "it may be slow");
    }

    #[test]
    fn an_outage_of_everything_is_no_topics_trouble() {
        let (mut topics, start) = (Topics::default(), Instant::now());
        let (one, two) = (topics.lane("one"), topics.lane("two"));
        topics.sent(one, start);
        topics.acknowledged(one, place(0, 0), start);
        topics.sent(two, start);
        topics.sent(two, start);
        topics.acknowledged(two, place(0, 0), start + SECOND);
        topics.sent(one, start + SECOND);
        assert!(topics.stalled(start + STALLED_AFTER * 3).is_empty());
    }

    #[test]
    fn offsets_that_go_backwards_are_of_another_topic() {
        let mut topics = Topics::default();
        let (lane, now) = (topics.lane("one"), Instant::now());
        assert!(topics.acknowledged(lane, place(0, 7), now));
        assert!(topics.acknowledged(lane, place(1, 3), now));
        assert!(topics.acknowledged(lane, place(0, -1), now), "the broker had it already");
        assert!(!topics.acknowledged(lane, place(0, 7), now));
        topics.forget(lane);
        assert!(!topics.is_known(lane));
        assert!(topics.acknowledged(lane, place(0, 0), now));
    }

    #[test]
    fn an_id_other_than_the_recorded_one_holds_the_topic() {
        let is = |id: &str| Identified::Is { topic_id: id.to_owned() };
        assert_eq!(judge(Ok(Some("a".to_owned())), None), is("a"));
        assert_eq!(judge(Ok(Some("a".to_owned())), Some("a")), is("a"));
        let trouble = |identified| match identified {
            Identified::Held { trouble, .. } => Some(trouble),
            Identified::Is { .. } | Identified::Unclear { .. } => None,
        };
        assert_eq!(trouble(judge(Ok(Some("b".to_owned())), Some("a"))), Some(Trouble::Recreated));
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
