//! The group's side of the client: what a rebalance does, which is to take note and to let go.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::topic_partition_list::{TopicPartitionList, TopicPartitionListElem};
use rdkafka::types::RDKafkaRespErr;

/// Something that the group decided.
#[derive(Debug)]
pub(crate) enum Note {
    /// These partitions are ours now; nothing is read before their positions are known.
    Assigned(Vec<i32>),
    /// These are not ours any more, and the client has let go of them.
    Revoked(Vec<i32>),
    /// The group was not answered, and waits; only another client can go on.
    Unanswered(KafkaError),
}

#[derive(Debug, Default)]
struct State {
    notes: Vec<Note>,
    /// The partitions that the client fetches: only those can be let go of.
    fetched: BTreeSet<i32>,
    served: bool,
}

/// The member's context. Its callbacks run inside `poll`, on the poll thread.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    state: Mutex<State>,
}

impl Membership {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take_notes(&self) -> Vec<Note> {
        std::mem::take(&mut self.state().notes)
    }

    /// Whether a callback ran since the last question: `poll` then gave nothing, though more may be queued.
    pub(crate) fn take_served(&self) -> bool {
        std::mem::take(&mut self.state().served)
    }

    /// Whether the client fetches this partition.
    pub(crate) fn fetches(&self, partition: i32) -> bool {
        self.state().fetched.contains(&partition)
    }

    /// Begins to fetch one partition at an offset.
    pub(crate) fn fetch(
        &self,
        consumer: &BaseConsumer<Self>,
        partitions: &TopicPartitionList,
        partition: i32,
    ) -> KafkaResult<()> {
        consumer.incremental_assign(partitions)?;
        self.state().fetched.insert(partition);
        Ok(())
    }

    /// Stops to fetch those of `partitions` that are fetched.
    pub(crate) fn let_go(
        &self,
        consumer: &BaseConsumer<Self>,
        topic: &str,
        partitions: &[i32],
    ) -> KafkaResult<()> {
        let mut list = TopicPartitionList::new();
        {
            let mut state = self.state();
            for partition in partitions.iter().filter(|partition| state.fetched.remove(partition)) {
                list.add_partition(topic, *partition);
            }
        }
        consumer.incremental_unassign(&list)
    }
}

impl ClientContext for Membership {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        match level {
            RDKafkaLogLevel::Emerg
            | RDKafkaLogLevel::Alert
            | RDKafkaLogLevel::Critical
            | RDKafkaLogLevel::Error
            | RDKafkaLogLevel::Warning => tracing::warn!(facility, "librdkafka: {message}"),
            RDKafkaLogLevel::Notice | RDKafkaLogLevel::Info | RDKafkaLogLevel::Debug => {
                tracing::debug!(facility, "librdkafka: {message}");
            }
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, "librdkafka: {reason}");
    }
}

impl ConsumerContext for Membership {
    fn rebalance(&self, consumer: &BaseConsumer<Self>, event: RDKafkaRespErr, list: &mut TopicPartitionList) {
        let elements = list.elements();
        let partitions: Vec<i32> = elements.iter().map(TopicPartitionListElem::partition).collect();
        let note = if event == RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            // Answers the group at once, with nothing: it must not wait for Postgres.
            consumer.incremental_assign(&TopicPartitionList::new()).map(|()| Note::Assigned(partitions))
        } else {
            let topic = elements.first().map_or("", |element| element.topic());
            self.let_go(consumer, topic, &partitions).map(|()| Note::Revoked(partitions))
        };
        let mut state = self.state();
        state.served = true;
        state.notes.push(note.unwrap_or_else(Note::Unanswered));
    }

    fn commit_callback(&self, result: KafkaResult<()>, _: &TopicPartitionList) {
        self.state().served = true;
        if let Err(error) = result {
            // The position that counts is in Postgres; the next commit says the same again.
            tracing::debug!(%error, "Kafka did not take the committed offset");
        }
    }
}
