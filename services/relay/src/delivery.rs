//! What a delivery report says, and what follows from it.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};

use crate::codes;

/// What became of one row.
#[derive(Debug)]
pub(crate) struct Report {
    /// The row.
    pub(crate) seq: i64,
    /// Where every in-sync replica has it, or why not.
    pub(crate) outcome: Result<Place, KafkaError>,
}

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) partition: i32,
    /// Negative when no broker said so: librdkafka concluded it from the acknowledgement of a later record.
    pub(crate) offset: i64,
}

/// Why a row was not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// We took it back ourselves.
    Purged,
    /// An earlier row failed, and the producer let nothing follow it.
    Followed,
    /// The broker or the producer will not have a record like this one, or like one of its batch.
    Refused,
    /// Kafka takes nothing for this one topic.
    Topic(Trouble),
    /// What is known of the topic is no longer so, or not so yet.
    Outdated,
    /// Everything else. It may be over later, and nothing says that other rows fare better.
    Unavailable,
}

/// What is wrong with one topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Trouble {
    /// There is no topic of that name.
    Missing,
    /// It was deleted and made again: it has another id than the one that was sent to.
    Recreated,
    /// This producer may not write to it.
    Unauthorised,
    /// Kafka lets nobody write to a topic of that name.
    Forbidden,
    /// It takes nothing, while other topics do.
    Stalled,
}

impl Trouble {
    /// The code under which its rows are held.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Missing => codes::RELAY_TOPIC_MISSING,
            Self::Recreated => codes::RELAY_TOPIC_RECREATED,
            Self::Unauthorised => codes::RELAY_TOPIC_UNAUTHORISED,
            Self::Forbidden => codes::RELAY_TOPIC_FORBIDDEN,
            Self::Stalled => codes::RELAY_TOPIC_STALLED,
        }
    }
}

impl Cause {
    /// The cause of an error of the producer.
    ///
    /// Only what names the record itself is a refusal: parking a row for anything else would park rows that Kafka takes a
    /// minute later. Only what names the topic itself is a topic's trouble. Whatever says something about brokers, replicas,
    /// the connection, the producer's own session or a state that librdkafka should have dealt with holds up everything:
    /// that never reorders, and the status says it. A code that this version does not know does so as well.
    pub(crate) fn of(error: &KafkaError) -> Self {
        use RDKafkaErrorCode as Code;
        let Some(code) = error.rdkafka_error_code() else { return Self::Unavailable };
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "librdkafka adds codes; an unknown one parks nothing"
        )]
        match code {
            Code::PurgeQueue | Code::PurgeInflight => Self::Purged,
            // `Fatal` only says that an error before it ended the producer.
            Code::GaplessGuarantee | Code::Fatal => Self::Followed,
            // The size of a record or batch, against the client's, the topic's or the segment's limit.
            Code::MessageSizeTooLarge | Code::MessageBatchTooLarge
            // The content: a null key for a compacted topic. The others of its batch are refused along with it.
            | Code::InvalidRecord | Code::InvalidDifferentRecord
            // The client does not build such a record.
            | Code::InvalidArgument => Self::Refused,
            Code::UnknownTopicOrPartition | Code::UnknownTopic | Code::UnknownTopicId => {
                Self::Topic(Trouble::Missing)
            }
            // The topic is there, but the producer does not know of so many partitions: they are new, or it was made again.
            Code::UnknownPartition => Self::Outdated,
            Code::TopicAuthorizationFailed => Self::Topic(Trouble::Unauthorised),
            Code::InvalidTopic => Self::Topic(Trouble::Forbidden),
            // Leaders, replicas and disks: LeaderNotAvailable, NotLeaderForPartition, NotEnoughReplicas(AfterAppend),
            // KafkaStorageError, FencedLeaderEpoch and the like are retried by librdkafka without end; that a single
            // topic stands still is seen by the clock. The way there and back: transport, time-outs, InvalidMessage (its
            // checksum is wrong) and BadMessage (an answer that nobody can read) say nothing about the row. Sessions:
            // OutOfOrderSequenceNumber, UnknownProducerId, InvalidProducerEpoch: a new producer begins a new one.
            // Everybody's: ClusterAuthorizationFailed, Authentication, SSL, ThrottlingQuotaExceeded, UnsupportedVersion,
            // UnsupportedCompressionType, InvalidTimestamp (a clock, not a row). The tests name each.
            _ => Self::Unavailable,
        }
    }
}

/// One row's own failure.
#[derive(Debug, Clone)]
pub(crate) struct Failed {
    pub(crate) seq: i64,
    pub(crate) error: KafkaError,
}

/// What the reports of one producer say about its end.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    /// The first error of a row or of everything, and its row.
    pub(crate) first: Option<Failed>,
    /// The highest row with such an error: what is sent one record a request includes it.
    pub(crate) last_seq: i64,
    /// What is wrong with single topics, by their lanes.
    pub(crate) topics: Vec<(usize, Trouble, String)>,
    /// Something has to be looked at again.
    pub(crate) is_suspicion: bool,
    seen: bool,
}

impl Failure {
    /// Takes a failed row into account.
    pub(crate) fn note(&mut self, seq: i64, lane: Option<usize>, error: KafkaError) {
        match (Cause::of(&error), lane) {
            (Cause::Purged, _) => {}
            (Cause::Followed, _) => self.seen = true,
            (Cause::Topic(trouble), Some(lane)) => {
                self.condemn(lane, trouble, format!("row {seq} of the outbox: {error}"));
            }
            (Cause::Refused | Cause::Unavailable | Cause::Outdated | Cause::Topic(_), _) => {
                self.seen = true;
                self.last_seq = self.last_seq.max(seq);
                if self.first.as_ref().is_none_or(|first| seq < first.seq) {
                    self.first = Some(Failed { seq, error });
                }
            }
        }
    }

    /// Says that a topic takes nothing, however that was found.
    pub(crate) fn condemn(&mut self, lane: usize, trouble: Trouble, detail: String) {
        self.seen = true;
        if self.topics.iter().all(|(known, _, _)| *known != lane) {
            self.topics.push((lane, trouble, detail));
        }
    }

    /// Asks for a new producer although no row failed: something has to be looked at again.
    pub(crate) fn suspect(&mut self) {
        self.is_suspicion = true;
        self.seen = true;
    }

    /// Whether the producer must be discarded.
    pub(crate) fn is_seen(&self) -> bool {
        self.seen
    }
}

#[cfg(test)]
mod tests;
