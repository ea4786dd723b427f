//! What a delivery report says, and what follows from it.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};

/// What became of one row.
#[derive(Debug)]
pub(crate) struct Report {
    /// The row.
    pub(crate) seq: i64,
    /// `None` when every in-sync replica has it.
    pub(crate) error: Option<KafkaError>,
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
    /// Everything else: no leader, not enough replicas, no authorisation, no such topic. It may be over later.
    Unavailable,
}

impl Cause {
    /// The cause of an error of the producer.
    pub(crate) fn of(error: &KafkaError) -> Self {
        use RDKafkaErrorCode as Code;
        let Some(code) = error.rdkafka_error_code() else { return Self::Unavailable };
        if matches!(code, Code::PurgeQueue | Code::PurgeInflight) {
            Self::Purged
        } else if matches!(code, Code::GaplessGuarantee | Code::Fatal) {
            Self::Followed
        } else if matches!(
            code,
            Code::MessageSizeTooLarge
                | Code::InvalidMessage
                | Code::InvalidMessageSize
                | Code::InvalidRecord
                | Code::BadMessage
                | Code::InvalidArgument
        ) {
            Self::Refused
        } else {
            Self::Unavailable
        }
    }
}

/// What the reports of one producer say about its end.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    /// The first error that was not the consequence of another, and its row.
    pub(crate) first: Option<(i64, KafkaError)>,
    /// The highest row with an error of its own: what is sent one record a request includes it.
    pub(crate) last_seq: i64,
    seen: bool,
}

impl Failure {
    /// Takes a failed row into account.
    pub(crate) fn note(&mut self, seq: i64, error: KafkaError) {
        match Cause::of(&error) {
            Cause::Purged => {}
            Cause::Followed => self.seen = true,
            Cause::Refused | Cause::Unavailable => {
                self.seen = true;
                self.last_seq = self.last_seq.max(seq);
                if self.first.as_ref().is_none_or(|(first, _)| seq < *first) {
                    self.first = Some((seq, error));
                }
            }
        }
    }

    /// Whether the producer must be discarded.
    pub(crate) fn is_seen(&self) -> bool {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: RDKafkaErrorCode) -> KafkaError {
        KafkaError::MessageProduction(code)
    }

    #[test]
    fn rows_that_were_purged_are_no_failure() {
        let mut failure = Failure::default();
        failure.note(3, failed(RDKafkaErrorCode::PurgeQueue));
        failure.note(4, failed(RDKafkaErrorCode::PurgeInflight));
        assert!(!failure.is_seen());
    }

    #[test]
    fn the_failure_is_the_row_that_failed_and_not_those_that_could_not_follow() {
        let mut failure = Failure::default();
        failure.note(9, failed(RDKafkaErrorCode::GaplessGuarantee));
        failure.note(7, failed(RDKafkaErrorCode::MessageSizeTooLarge));
        failure.note(5, failed(RDKafkaErrorCode::MessageSizeTooLarge));
        assert!(failure.is_seen());
        assert_eq!(failure.last_seq, 7);
        assert!(matches!(&failure.first, Some((5, error)) if Cause::of(error) == Cause::Refused));
    }

    #[test]
    fn what_may_be_over_later_is_not_a_refusal() {
        for code in [
            RDKafkaErrorCode::UnknownTopicOrPartition,
            RDKafkaErrorCode::NotEnoughReplicas,
            RDKafkaErrorCode::TopicAuthorizationFailed,
            RDKafkaErrorCode::LeaderNotAvailable,
        ] {
            assert_eq!(Cause::of(&failed(code)), Cause::Unavailable, "{code:?}");
        }
    }
}
