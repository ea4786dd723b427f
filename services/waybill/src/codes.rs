//! The codes of this binary that an operator can see. Each has a page in `docs/errors/`.

/// The process cannot set itself up: log, metrics, signals or threads.
pub(crate) const PROCESS_SETUP_FAILED: &str = "process-setup-failed";
/// The answer of a command cannot be written.
pub(crate) const OUTPUT_FAILED: &str = "output-failed";
/// The command line asks for something that cannot be meant.
pub(crate) const USAGE: &str = "usage";
/// Kafka cannot be reached, or refuses what was asked of it.
pub(crate) const KAFKA_UNREACHABLE: &str = "kafka-unreachable";
/// Kafka refused to make or change a topic.
pub(crate) const TOPIC_REFUSED: &str = "topic-refused";
/// A topic is another one than its declaration says.
pub(crate) const TOPIC_DRIFTED: &str = "topic-drifted";
/// A consumer group is bound to another topic id than the topic has.
pub(crate) const TOPIC_BOUND_ELSEWHERE: &str = "topic-bound-elsewhere";
/// The doctor found something that keeps Waybill from working.
pub(crate) const DOCTOR_FOUND_FAILURES: &str = "doctor-found-failures";
/// The outbox's cursor is of the server that answers: there is nothing to rebase.
pub(crate) const REBASE_NOT_NEEDED: &str = "rebase-not-needed";
/// Rows written after the restore stand before rows of before it.
pub(crate) const REBASE_INTERLEAVED: &str = "rebase-interleaved";
/// The rebase of an outbox could not be carried out; nothing was changed.
pub(crate) const REBASE_FAILED: &str = "rebase-failed";
/// The login may not do with an outbox what a command wants of it.
pub(crate) const OUTBOX_LOGIN_REFUSED: &str = "outbox-login-refused";
/// An outbox that was asked over a connection of the command's own gave no answer.
pub(crate) const OUTBOX_COMMAND_FAILED: &str = "outbox-command-failed";
