//! The partitions of one topic: which of them a row goes to, and whether the next row may be handed over for it.
//!
//! A broker knows an idempotent producer's next number partition by partition. As long as it knows nothing of a producer, it
//! takes whatever number comes first: if it refuses the first request, because it has the partition only a moment later,
//! and takes the second one, then the rows of the first one have no place any more, and librdkafka takes the
//! acknowledgement of the second one for that of both. So one row goes alone until it is acknowledged; from then on the
//! broker refuses whatever would leave a row out. It forgets a producer that sends nothing for long, and so do we, sooner.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::delivery::Place;

/// So long after it was given the last row that it acknowledged, a broker may have forgotten the producer.
/// `producer.id.expiration.ms` says when it does, and is a day by default. It counts from the record's own time, which is that
/// of its handing over and not of its acknowledgement: seen as rows out of order, when a long queue lay between the two.
pub(crate) const REMEMBERED_FOR: Duration = Duration::from_secs(10);

/// All of them, by their number.
#[derive(Debug, Default)]
pub(crate) struct Partitions(Vec<Partition>);

#[derive(Debug)]
struct Partition {
    /// The highest offset that was acknowledged.
    end: i64,
    /// When the producer was given each row that the broker has not acknowledged, in their order.
    in_flight: VecDeque<Instant>,
    /// When the producer was given the last row that the broker has acknowledged.
    known_since: Option<Instant>,
}

impl Partitions {
    /// Notes that there are so many.
    pub(crate) fn found(&mut self, count: usize) {
        let unknown = || Partition { end: -1, in_flight: VecDeque::new(), known_since: None };
        self.0.resize_with(count.max(1), unknown);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Where a row goes: by its key as all of Kafka's clients do it, and without one in turn.
    pub(crate) fn of(&self, key: Option<&[u8]>, seq: i64) -> i32 {
        let count = i64::try_from(self.0.len()).unwrap_or(i64::MAX).max(1);
        let hash = key.map_or(seq, |key| i64::from(murmur2(key) & 0x7fff_ffff));
        i32::try_from(hash.rem_euclid(count)).unwrap_or(0)
    }

    /// Whether a row may be handed over: the broker knows the producer, or it will before another row can come.
    pub(crate) fn may_send(&self, partition: i32, now: Instant) -> bool {
        self.get(partition).is_none_or(|partition| {
            let is_remembered =
                partition.known_since.is_some_and(|since| now.duration_since(since) < REMEMBERED_FOR);
            is_remembered || partition.in_flight.is_empty()
        })
    }

    /// Notes that a row was handed over.
    pub(crate) fn sent(&mut self, partition: i32, now: Instant) {
        if let Some(partition) = self.get_mut(partition) {
            partition.in_flight.push_back(now);
        }
    }

    /// Notes an acknowledgement, and answers whether it can be one, and of the topic that was sent to before. Without an offset
    /// it is only concluded from that of a later row; and offsets only grow, unless the topic was made again.
    pub(crate) fn acknowledged(&mut self, place: Place) -> bool {
        let Some(partition) = self.get_mut(place.partition) else { return true };
        let sent_at = partition.in_flight.pop_front();
        if place.offset <= partition.end {
            return false;
        }
        partition.end = place.offset;
        partition.known_since = sent_at.or(partition.known_since);
        true
    }

    /// Notes that nothing is in flight any more.
    pub(crate) fn abandon(&mut self) {
        for partition in &mut self.0 {
            partition.in_flight.clear();
        }
    }

    /// Notes that another producer sends from now on.
    pub(crate) fn begin(&mut self) {
        self.abandon();
        for partition in &mut self.0 {
            partition.known_since = None;
        }
    }

    /// Forgets how far the topic is filled: it may be another one.
    pub(crate) fn forget(&mut self) {
        for partition in &mut self.0 {
            partition.end = -1;
        }
    }

    fn get(&self, partition: i32) -> Option<&Partition> {
        self.0.get(usize::try_from(partition).ok()?)
    }

    fn get_mut(&mut self, partition: i32) -> Option<&mut Partition> {
        self.0.get_mut(usize::try_from(partition).ok()?)
    }
}

/// The hash of a key that Kafka's clients agree on.
fn murmur2(key: &[u8]) -> u32 {
    const FACTOR: u32 = 0x5bd1_e995;
    let length = u32::try_from(key.len()).unwrap_or(u32::MAX);
    let (words, rest) = key.as_chunks::<4>();
    let mut hash = 0x9747_b28c ^ length;
    for word in words {
        let mixed = u32::from_le_bytes(*word).wrapping_mul(FACTOR);
        hash = hash.wrapping_mul(FACTOR) ^ (mixed ^ (mixed >> 24)).wrapping_mul(FACTOR);
    }
    if !rest.is_empty() {
        let last = rest.iter().rev().fold(0, |last, byte| (last << 8) | u32::from(*byte));
        hash = (hash ^ last).wrapping_mul(FACTOR);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(FACTOR);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn of(count: usize) -> Partitions {
        let mut partitions = Partitions::default();
        partitions.found(count);
        partitions
    }

    fn place(partition: i32, offset: i64) -> Place {
        Place { partition, offset }
    }

    /// The pairs are from the tests of Kafka's own client, `UtilsTest.testMurmur2`.
    #[test]
    fn a_key_goes_where_the_other_clients_of_kafka_send_it() {
        for (key, hash) in [
            ("21", -973_932_308_i32),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            ("abc", 479_470_107),
        ] {
            assert_eq!(murmur2(key.as_bytes()).cast_signed(), hash, "{key}");
        }
    }

    #[test]
    fn rows_without_a_key_take_turns_and_an_empty_key_is_one() {
        let partitions = of(3);
        let without: Vec<_> = (7..11).map(|seq| partitions.of(None, seq)).collect();
        assert_eq!(without, [1, 2, 0, 1]);
        assert_eq!(partitions.of(Some(b""), 7), partitions.of(Some(b""), 8));
    }

    #[test]
    fn one_row_goes_alone_until_the_broker_knows_the_producer() {
        let (mut partitions, now) = (of(2), Instant::now());
        assert!(partitions.may_send(0, now));
        partitions.sent(0, now);
        assert!(!partitions.may_send(0, now));
        assert!(partitions.may_send(1, now), "another partition is none of its business");
        assert!(partitions.acknowledged(place(0, 5)));
        partitions.sent(0, now);
        partitions.sent(0, now);
        assert!(partitions.may_send(0, now));
        partitions.begin();
        partitions.sent(0, now);
        assert!(!partitions.may_send(0, now), "the broker does not know the next producer");
    }

    #[test]
    fn one_row_goes_alone_again_when_the_broker_may_have_forgotten_the_producer() {
        let (mut partitions, now) = (of(1), Instant::now());
        partitions.sent(0, now);
        partitions.acknowledged(place(0, 5));
        partitions.sent(0, now + SECOND);
        assert!(partitions.may_send(0, now + REMEMBERED_FOR - SECOND));
        assert!(!partitions.may_send(0, now + REMEMBERED_FOR), "one is in flight");
        partitions.acknowledged(place(0, 6));
        assert!(partitions.may_send(0, now + REMEMBERED_FOR), "it was given later");
        assert!(partitions.may_send(0, now + REMEMBERED_FOR * 3), "none is in flight");
    }

    #[test]
    fn the_time_in_the_queue_counts_as_silence() {
        let (mut partitions, now) = (of(1), Instant::now());
        partitions.sent(0, now);
        partitions.acknowledged(place(0, 5));
        for _ in 0..3 {
            partitions.sent(0, now);
        }
        // They come much later than they were given, one of them not at all.
        partitions.acknowledged(place(0, 6));
        partitions.acknowledged(place(0, 7));
        assert!(!partitions.may_send(0, now + REMEMBERED_FOR), "the broker counts from when they were made");
    }

    #[test]
    fn offsets_that_go_backwards_are_of_another_topic_and_none_is_no_acknowledgement() {
        let mut partitions = of(2);
        assert!(partitions.acknowledged(place(0, 7)));
        assert!(partitions.acknowledged(place(1, 3)));
        assert!(!partitions.acknowledged(place(0, 7)));
        assert!(!partitions.acknowledged(place(1, -1001)), "it is concluded from a later one");
        partitions.forget();
        assert!(partitions.acknowledged(place(0, 0)));
        assert!(!partitions.acknowledged(place(1, -1)));
    }
}
