use rdkafka::types::RDKafkaRespErr;

use super::RDKafkaErrorCode as Code;
use super::*;

fn failed(code: Code) -> KafkaError {
    KafkaError::MessageProduction(code)
}

#[test]
fn rows_that_were_purged_are_no_failure() {
    let mut failure = Failure::default();
    failure.note(3, Some(0), failed(Code::PurgeQueue));
    failure.note(4, Some(0), failed(Code::PurgeInflight));
    assert!(!failure.is_seen());
}

#[test]
fn the_failure_is_the_row_that_failed_and_not_those_that_could_not_follow() {
    let mut failure = Failure::default();
    failure.note(9, Some(0), failed(Code::GaplessGuarantee));
    failure.note(7, Some(0), failed(Code::MessageSizeTooLarge));
    failure.note(5, Some(0), failed(Code::MessageSizeTooLarge));
    assert!(failure.is_seen());
    assert_eq!(failure.last_seq, 7);
    let first = failure.first.expect("a failure");
    assert_eq!((first.seq, Cause::of(&first.error)), (5, Cause::Refused));
}

#[test]
fn what_is_wrong_with_a_topic_is_said_of_it_once_and_of_no_row() {
    let mut failure = Failure::default();
    failure.note(7, Some(3), failed(Code::UnknownTopic));
    failure.note(8, Some(3), failed(Code::UnknownTopic));
    failure.note(9, Some(4), failed(Code::TopicAuthorizationFailed));
    let topics: Vec<_> = failure.topics.iter().map(|(lane, trouble, _)| (*lane, *trouble)).collect();
    assert_eq!(topics, [(3, Trouble::Missing), (4, Trouble::Unauthorised)]);
    assert!(failure.is_seen() && failure.first.is_none());
}

/// Every cause, and every code of the client and the broker that has it.
const CAUSES: &[(Cause, &[Code])] = &[
    (Cause::Purged, &[Code::PurgeQueue, Code::PurgeInflight]),
    (Cause::Followed, &[Code::GaplessGuarantee, Code::Fatal]),
    (
        Cause::Refused,
        &[
            Code::MessageSizeTooLarge,
            Code::MessageBatchTooLarge,
            Code::InvalidRecord,
            Code::InvalidDifferentRecord,
            Code::InvalidArgument,
        ],
    ),
    (
        Cause::Topic(Trouble::Missing),
        &[Code::UnknownTopicOrPartition, Code::UnknownTopic, Code::UnknownTopicId],
    ),
    (Cause::Topic(Trouble::Unauthorised), &[Code::TopicAuthorizationFailed]),
    (Cause::Topic(Trouble::Forbidden), &[Code::InvalidTopic]),
    (Cause::Outdated, &[Code::UnknownPartition]),
    (Cause::Unavailable, LEADERS_AND_REPLICAS),
    (Cause::Unavailable, THE_WAY_THERE_AND_BACK),
    (Cause::Unavailable, SESSIONS),
    (Cause::Unavailable, EVERYBODYS),
    (Cause::Unavailable, NO_ANSWER_TO_A_PRODUCE_REQUEST),
];

/// A broker answers them while a leader changes, replicas are away or a disk fails.
const LEADERS_AND_REPLICAS: &[Code] = &[
    Code::LeaderNotAvailable,
    Code::NotLeaderForPartition,
    Code::ReplicaNotAvailable,
    Code::BrokerNotAvailable,
    Code::NotEnoughReplicas,
    Code::NotEnoughReplicasAfterAppend,
    Code::ISRInsufficient,
    Code::KafkaStorageError,
    Code::FencedLeaderEpoch,
    Code::UnknownLeaderEpoch,
    Code::StaleBrokerEpoch,
    Code::RequestTimedOut,
    Code::RebootstrapRequired,
];

/// Nothing arrived, it was not what was sent, or its answer is not what was answered.
const THE_WAY_THERE_AND_BACK: &[Code] = &[
    Code::BadMessage,
    Code::InvalidMessage,
    Code::BadCompression,
    Code::Underflow,
    Code::Partial,
    Code::BrokerDestroy,
    Code::DestroyBroker,
    Code::BrokerTransportFailure,
    Code::NetworkException,
    Code::Resolve,
    Code::AllBrokersDown,
    Code::UnknownBroker,
    Code::NodeUpdate,
    Code::MessageTimedOut,
    Code::OperationTimedOut,
    Code::TimedOutQueue,
    Code::Interrupted,
    Code::Retry,
];

/// The producer's numbers are not those that the broker expects: another producer begins with new ones.
const SESSIONS: &[Code] = &[
    Code::OutOfOrderSequenceNumber,
    Code::DuplicateSequenceNumber,
    Code::UnknownProducerId,
    Code::InvalidProducerEpoch,
    Code::InvalidProducerIdMapping,
    Code::InvalidTransactionalState,
    Code::ConcurrentTransactions,
    Code::TransactionalIdAuthorizationFailed,
    Code::ProducerFenced,
    Code::Fenced,
    Code::Inconsistent,
];

/// They would be the same for any other row: what the producer may do, and what broker and client agree on.
const EVERYBODYS: &[Code] = &[
    Code::Unknown,
    Code::Fail,
    Code::CriticalSystemResource,
    Code::FileSystem,
    Code::State,
    Code::Conflict,
    Code::QueueFull,
    Code::SSL,
    Code::Authentication,
    Code::SaslAuthenticationFailed,
    Code::UnsupportedSASLMechanism,
    Code::IllegalSASLState,
    Code::ClusterAuthorizationFailed,
    Code::SecurityDisabled,
    Code::ThrottlingQuotaExceeded,
    Code::UnsupportedVersion,
    Code::UnsupportedFeature,
    Code::UnsupportedForMessageFormat,
    Code::UnsupportedCompressionType,
    Code::InvalidTimestamp,
    Code::InvalidRequest,
    Code::InvalidRequiredAcks,
    Code::PolicyViolation,
    Code::NotImplemented,
    Code::NotConfigured,
    Code::UnknownProtocol,
];

/// Consumers, groups, transactions' coordinators, administration: whatever it means there, it means nothing here.
const NO_ANSWER_TO_A_PRODUCE_REQUEST: &[Code] = &[
    Code::PartitionEOF,
    Code::WaitingForCoordinator,
    Code::UnknownGroup,
    Code::InProgress,
    Code::PreviousInProgress,
    Code::ExistingSubscription,
    Code::AssignPartitions,
    Code::RevokePartitions,
    Code::NoOffset,
    Code::Outdated,
    Code::WaitCache,
    Code::KeySerialization,
    Code::ValueSerialization,
    Code::KeyDeserialization,
    Code::ValueDeserialization,
    Code::ReadOnly,
    Code::NoEnt,
    Code::InvalidType,
    Code::PollExceeded,
    Code::Application,
    Code::AssignmentLost,
    Code::Noop,
    Code::AutoOffsetReset,
    Code::LogTruncation,
    Code::OffsetOutOfRange,
    Code::InvalidMessageSize,
    Code::StaleControllerEpoch,
    Code::OffsetMetadataTooLarge,
    Code::CoordinatorLoadInProgress,
    Code::CoordinatorNotAvailable,
    Code::NotCoordinator,
    Code::IllegalGeneration,
    Code::InconsistentGroupProtocol,
    Code::InvalidGroupId,
    Code::UnknownMemberId,
    Code::InvalidSessionTimeout,
    Code::RebalanceInProgress,
    Code::InvalidCommitOffsetSize,
    Code::GroupAuthorizationFailed,
    Code::TopicAlreadyExists,
    Code::InvalidPartitions,
    Code::InvalidReplicationFactor,
    Code::InvalidReplicaAssignment,
    Code::InvalidConfig,
    Code::NotController,
    Code::InvalidTransactionTimeout,
    Code::TransactionCoordinatorFenced,
    Code::OperationNotAttempted,
    Code::LogDirNotFound,
    Code::ReassignmentInProgress,
    Code::DelegationTokenAuthDisabled,
    Code::DelegationTokenNotFound,
    Code::DelegationTokenOwnerMismatch,
    Code::DelegationTokenRequestNotAllowed,
    Code::DelegationTokenAuthorizationFailed,
    Code::DelegationTokenExpired,
    Code::InvalidPrincipalType,
    Code::NonEmptyGroup,
    Code::GroupIdNotFound,
    Code::FetchSessionIdNotFound,
    Code::InvalidFetchSessionEpoch,
    Code::ListenerNotFound,
    Code::TopicDeletionDisabled,
    Code::OffsetNotAvailable,
    Code::MemberIdRequired,
    Code::PreferredLeaderNotAvailable,
    Code::GroupMaxSizeReached,
    Code::FencedInstanceId,
    Code::EligibleLeadersNotAvailable,
    Code::ElectionNotNeeded,
    Code::NoReassignmentInProgress,
    Code::GroupSubscribedToTopic,
    Code::UnstableOffsetCommit,
    Code::ResourceNotFound,
    Code::DuplicateResource,
    Code::UnacceptableCredential,
    Code::InconsistentVoterSet,
    Code::InvalidUpdateVersion,
    Code::FeatureUpdateFailed,
    Code::PrincipalDeserializationFailure,
    Code::FencedMemberEpoch,
    Code::UnreleasedInstanceId,
    Code::UnsupportedAssignor,
    Code::StaleMemberEpoch,
    Code::UnknownSubscriptionId,
    Code::TelemetryTooLarge,
];

#[test]
fn every_code_has_the_cause_that_it_is_named_under() {
    for (cause, codes) in CAUSES {
        for code in *codes {
            assert_eq!(Cause::of(&failed(*code)), *cause, "{code:?}");
        }
    }
}

/// A code that the client learns has to be placed.
#[test]
fn every_code_that_the_client_knows_is_named_once() {
    let every = (-200..=150).filter_map(|number| RDKafkaRespErr::try_from(number).ok()).map(Code::from);
    let marks = [Code::Begin, Code::End, Code::EndAll, Code::NoError];
    for code in every.filter(|code| !marks.contains(code)) {
        let named = CAUSES.iter().flat_map(|(_, codes)| *codes).filter(|named| **named == code).count();
        assert_eq!(named, 1, "{code:?}");
    }
}
