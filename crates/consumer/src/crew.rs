//! What the tasks of one consumer share, and how they answer the poll thread.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use deadpool_postgres::Pool;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::ConsumerOptions;
use crate::complaint::Complaint;
use crate::inspector::Inspector;
use crate::load::Loaded;
use crate::metrics::Meter;
use crate::position::Place;
use crate::status::StatusSink;

/// What wakes the poll thread.
#[derive(Debug)]
pub(crate) enum Signal {
    /// The client's queue holds something again.
    Kafka,
    /// A partition's position is known, and the partition is this process's.
    Loaded(Ticket, Loaded),
    /// A transaction moved the position to this offset.
    Committed(Ticket, i64),
    /// The task of a batch is over.
    Finished(Ticket, Finished),
    /// The topic has another id than before, or none.
    TopicChanged,
    /// `run` was told to end.
    Shutdown,
}

/// One holding of one partition. What a task of an earlier holding still says is not listened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) partition: i32,
    pub(crate) number: u64,
}

/// How a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finished {
    /// All of it is applied or parked.
    Applied,
    /// Another holder has the partition; nothing more of the batch was applied.
    Fenced,
    /// The holding ended before the batch did.
    Cancelled,
}

/// Shared by the poll thread and its tasks.
pub(crate) struct Crew<E> {
    pub(crate) options: ConsumerOptions,
    pub(crate) pool: Pool,
    pub(crate) effect: Arc<E>,
    pub(crate) status: Arc<dyn StatusSink>,
    pub(crate) inspector: Inspector,
    pub(crate) transactions: Semaphore,
    pub(crate) signals: Sender<Signal>,
    pub(crate) meter: Meter,
    /// Ends every wait; called when `run` ends.
    pub(crate) stop: CancellationToken,
}

impl<E> Crew<E> {
    pub(crate) fn place(&self, partition: i32) -> Place<'_> {
        Place { group: &self.options.group, topic: &self.options.topic, partition }
    }

    /// Tells the poll thread; when it has ended there is nobody to tell.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = self.signals.send(signal);
    }

    /// What is wrong with the whole group here.
    pub(crate) fn group_complaint(&self, about: &str) -> Complaint<'_> {
        Complaint::new(&*self.status, self.group_component(about))
    }

    /// How the whole group here is called where its health is told.
    pub(crate) fn group_component(&self, about: &str) -> String {
        format!("consumer.{}.{about}", self.options.group)
    }

    /// What is wrong with one partition.
    pub(crate) fn complaint(&self, partition: i32) -> Complaint<'_> {
        Complaint::new(&*self.status, format!("consumer.{}.{partition}", self.options.group))
    }
}
