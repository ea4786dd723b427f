//! Which brokers are asked.
//!
//! librdkafka sends DescribeTopics to the controller, and a Kafka without ZooKeeper names any of its brokers as that: a dead
//! one too while it is not missed yet. librdkafka then waits for that one broker, though every broker can answer.

use std::ffi::{CString, c_int};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use rdkafka::bindings as ffi;
use rdkafka::client::{Client, ClientContext};
use rdkafka::error::IsError;

use crate::{Guard, TopicIdError};

/// So many are asked at once when it is not known which of them answers.
const ASKED_MAX: usize = 3;

/// Where the next choice begins, so that it is another one each time.
static TURN: AtomicUsize = AtomicUsize::new(0);

/// Brokers of which one can be expected to answer, found by asking any broker for metadata. None at all means that only
/// librdkafka's own choice is left. Blocks.
pub(crate) fn to_ask<C: ClientContext>(
    client: &Client<C>,
    names: &[CString],
    timeout_ms: c_int,
) -> Result<Vec<i32>, TopicIdError> {
    // SAFETY: `client` outlives this block, and the names are NUL-terminated and copied. The topic is destroyed by its guard
    // after the request. The metadata is ours once the call succeeded: it is read, copied and destroyed once, and its array
    // has `broker_cnt` elements.
    unsafe {
        // Metadata without a topic would be that of all topics. A name that no topic can have gives null.
        let topic = names.iter().find_map(|name| {
            let topic = ffi::rd_kafka_topic_new(client.native_ptr(), name.as_ptr(), ptr::null_mut());
            Guard::new(topic, ffi::rd_kafka_topic_destroy).ok()
        });
        let Some(topic) = topic else { return Ok(Vec::new()) };
        let mut metadata = ptr::null();
        let failed =
            ffi::rd_kafka_metadata(client.native_ptr(), 0, topic.get(), &raw mut metadata, timeout_ms);
        if failed.is_error() {
            return Err(TopicIdError::Kafka(failed.into()));
        }
        let count = usize::try_from((*metadata).broker_cnt).unwrap_or(0);
        let brokers = (0..count).map(|index| (*(*metadata).brokers.add(index)).id).collect();
        let answered = (*metadata).orig_broker_id;
        ffi::rd_kafka_metadata_destroy(metadata);
        Ok(choose(answered, brokers, TURN.fetch_add(1, Ordering::Relaxed)))
    }
}

/// The broker that answered, and if it did so under an address that is no broker's own, a few of all.
fn choose(answered: i32, mut brokers: Vec<i32>, turn: usize) -> Vec<i32> {
    if answered >= 0 {
        return vec![answered];
    }
    if !brokers.is_empty() {
        let places = brokers.len();
        brokers.rotate_left(turn % places);
        brokers.truncate(ASKED_MAX);
    }
    brokers
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn the_broker_that_answered_is_asked_again_and_if_it_is_not_known_others_each_time() {
        assert_eq!(choose(2, vec![1, 2, 3], 0), [2]);
        assert_eq!(choose(-1, vec![1, 2, 3, 4], 0), [1, 2, 3]);
        assert_eq!(choose(-1, vec![1, 2, 3, 4], 6), [3, 4, 1]);
        assert!(choose(-1, Vec::new(), 1).is_empty());
    }
}
