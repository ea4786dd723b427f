//! The thread that owns the Kafka client: it polls, hands records to tasks, and lets go of what the group takes away.
//!
//! Rebalance callbacks run inside `poll` and only take note; positions are read by tasks, and a partition is fetched from
//! an explicit offset once its own is known. So a member stays alive, and other partitions go on, while one of them waits
//! for Postgres.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use tokio::runtime::Handle;

use crate::apply::apply;
use crate::codes;
use crate::crew::{Crew, Finished, Signal, Ticket};
use crate::effect::Effect;
use crate::error::ConsumerError;
use crate::group::{Membership, Note};
use crate::load::{Loaded, load};
use crate::native::cached_end;
use crate::partition::{Flow, HOLD_MAX, Partition, Running, Stage};
use crate::record::Record;

/// The client is polled that often though nothing signals; each poll also says that the member lives.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The most messages of one turn, so that signals are heard between.
const MESSAGES_PER_TURN_MAX: usize = 5_000;
/// Kafka's own offsets follow at most that often: they are for lag tools alone.
const COMMIT_INTERVAL: Duration = Duration::from_millis(500);
/// A partition that was fenced while assigned is taken again after that long: the group may be about to say that it is
/// somebody else's.
const FENCED_WAIT: Duration = Duration::from_secs(1);
/// A damaged stretch of the log is fetched again after that long.
const CORRUPT_WAIT: Duration = Duration::from_secs(5);

pub(crate) struct PollThread<E> {
    pub(crate) consumer: BaseConsumer<Membership>,
    pub(crate) crew: Arc<Crew<E>>,
    pub(crate) runtime: Handle,
    pub(crate) signals: Receiver<Signal>,
    /// A [`Signal::Kafka`] is on its way.
    pub(crate) kafka_signalled: Arc<AtomicBool>,
    pub(crate) topic: CString,
    pub(crate) partitions: BTreeMap<i32, Partition>,
    pub(crate) tickets: u64,
    pub(crate) uncommitted: BTreeMap<i32, i64>,
    pub(crate) commit_due: Instant,
    /// Kafka refused this identity, and nothing has come from it since.
    pub(crate) is_refused: bool,
}

impl<E: Effect> PollThread<E> {
    /// Runs until the crew is stopped, then waits for what is under way and leaves the group.
    pub(crate) fn run(mut self) -> Result<(), ConsumerError> {
        self.consumer.subscribe(&[&self.crew.options.topic]).map_err(|source| self.fatal(source))?;
        let mut wait = Duration::ZERO;
        while !self.crew.stop.is_cancelled() {
            wait = self.turn(wait)?;
        }
        let deadline = Instant::now() + self.crew.options.drain_timeout;
        while self.in_flight() && Instant::now() < deadline {
            self.turn(POLL_INTERVAL)?;
        }
        self.commit();
        // Dropping the client leaves the group, which may take long when no broker answers; `run` does not wait for ever.
        Ok(())
    }

    /// One turn: hear the tasks, poll the client, hand out batches. Answers how long the next turn may wait for a signal.
    fn turn(&mut self, wait: Duration) -> Result<Duration, ConsumerError> {
        match self.signals.recv_timeout(wait) {
            Ok(signal) => self.hear(signal),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        while let Ok(signal) = self.signals.try_recv() {
            self.hear(signal);
        }
        if !self.crew.stop.is_cancelled() {
            self.hand_out();
        }
        let next = if self.steer() { HOLD_MAX } else { self.poll()? };
        if Instant::now() >= self.commit_due {
            self.commit_due = Instant::now() + COMMIT_INTERVAL;
            self.commit();
            self.measure_lag();
        }
        Ok(next)
    }

    fn hear(&mut self, signal: Signal) {
        match signal {
            Signal::Kafka | Signal::Shutdown => {}
            Signal::Loaded(ticket, loaded) => self.start(ticket, loaded),
            Signal::Committed(ticket, next_offset) => {
                if let Some(running) = self.held(ticket).and_then(Partition::running) {
                    running.committed(next_offset);
                    self.uncommitted.insert(ticket.partition, next_offset);
                }
            }
            Signal::Finished(ticket, finished) => {
                let Some(partition) = self.held(ticket) else { return };
                if let Some(running) = partition.running() {
                    running.finished();
                }
                if finished == Finished::Fenced {
                    self.take(ticket.partition, FENCED_WAIT);
                }
            }
            Signal::TopicChanged => self.take_all(Duration::ZERO),
        }
    }

    /// The partition of a holding that is still the current one.
    fn held(&mut self, ticket: Ticket) -> Option<&mut Partition> {
        self.partitions.get_mut(&ticket.partition).filter(|partition| partition.ticket == ticket)
    }

    /// Polls until the client holds nothing more, a buffer is full, or the turn is long enough. Answers how long to wait for
    /// a signal before the next turn.
    fn poll(&mut self) -> Result<Duration, ConsumerError> {
        self.kafka_signalled.store(false, Ordering::SeqCst);
        for _ in 0..MESSAGES_PER_TURN_MAX {
            let record = match self.consumer.poll(Duration::ZERO) {
                Some(Ok(message)) => Ok(Record::from_message(&message)),
                Some(Err(error)) => Err(error),
                None if self.consumer.context().take_served() => {
                    self.follow_group()?;
                    continue;
                }
                None => return Ok(if self.idle() { POLL_INTERVAL } else { Duration::ZERO }),
            };
            let full = match record {
                Ok(record) => self.take_in(record),
                Err(error) => self.suffer(error).map(|()| false)?,
            };
            if full {
                break;
            }
        }
        Ok(Duration::ZERO)
    }

    /// Whether no batch could be handed out.
    fn idle(&mut self) -> bool {
        self.partitions.values_mut().filter_map(Partition::running).all(|running| !running.is_ready())
    }

    /// Takes a record in, and answers whether its partition's buffer is full.
    fn take_in(&mut self, record: Record) -> bool {
        self.accepted();
        let running = self.partitions.get_mut(&record.partition).and_then(Partition::running);
        running.is_some_and(|running| running.take_in(record, &self.crew.options))
    }

    fn suffer(&mut self, error: KafkaError) -> Result<(), ConsumerError> {
        if let KafkaError::MessageConsumptionFatal(_) = error {
            return Err(self.fatal(error));
        }
        // The client does not say which partition it is about, so all of them are looked at again.
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::AutoOffsetReset | RDKafkaErrorCode::OffsetOutOfRange) => {
                self.take_all(Duration::ZERO);
            }
            Some(RDKafkaErrorCode::BadMessage | RDKafkaErrorCode::InvalidMessage) => {
                // The client goes on behind the damaged stretch; going on with it would skip records in silence.
                tracing::error!(
                    consumer_group = self.crew.options.group,
                    topic = self.crew.options.topic,
                    code = codes::LOG_CORRUPT,
                    %error,
                    "a stretch of the log is damaged; fetching again"
                );
                self.take_all(CORRUPT_WAIT);
            }
            Some(
                RDKafkaErrorCode::TopicAuthorizationFailed
                | RDKafkaErrorCode::GroupAuthorizationFailed
                | RDKafkaErrorCode::ClusterAuthorizationFailed
                | RDKafkaErrorCode::SaslAuthenticationFailed,
            ) => self.refused(&error),
            _ => tracing::debug!(consumer_group = self.crew.options.group, %error, "Kafka error"),
        }
        Ok(())
    }

    /// Says that Kafka refuses this identity. The client says so once and then is silent, so it stands until a record or
    /// an assignment shows that it is over.
    fn refused(&mut self, error: &KafkaError) {
        if !std::mem::replace(&mut self.is_refused, true) {
            tracing::error!(
                consumer_group = self.crew.options.group,
                topic = self.crew.options.topic,
                code = codes::KAFKA_UNAVAILABLE,
                %error,
                "Kafka refuses this consumer"
            );
        }
        let component = self.crew.group_component("access");
        self.crew.status.degraded(&component, codes::KAFKA_UNAVAILABLE, &error.to_string());
    }

    fn accepted(&mut self) {
        if std::mem::take(&mut self.is_refused) {
            self.crew.status.clear(&self.crew.group_component("access"));
        }
    }

    fn follow_group(&mut self) -> Result<(), ConsumerError> {
        for note in self.consumer.context().take_notes() {
            match note {
                Note::Assigned(partitions) => {
                    tracing::info!(consumer_group = self.crew.options.group, ?partitions, "assigned");
                    self.accepted();
                    partitions.into_iter().for_each(|partition| self.take(partition, Duration::ZERO));
                }
                Note::Revoked(partitions) => {
                    tracing::info!(consumer_group = self.crew.options.group, ?partitions, "revoked");
                    partitions.into_iter().for_each(|partition| self.forget(partition));
                }
                Note::Unanswered(source) => return Err(self.fatal(source)),
            }
        }
        Ok(())
    }

    /// Begins a new holding: what an earlier one fetched is dropped, and a new fence ends what it has under way.
    fn take(&mut self, index: i32, wait: Duration) {
        self.forget(index);
        self.let_go(index);
        self.tickets += 1;
        let ticket = Ticket { partition: index, number: self.tickets };
        let cancel = self.crew.stop.child_token();
        self.partitions.insert(index, Partition { ticket, cancel: cancel.clone(), stage: Stage::Loading });
        let crew = Arc::clone(&self.crew);
        self.runtime.spawn(async move {
            let waited = cancel.run_until_cancelled(tokio::time::sleep(wait)).await;
            if waited.is_some()
                && let Some(loaded) = load(&crew, index, &cancel).await
            {
                crew.signal(Signal::Loaded(ticket, loaded));
            }
        });
    }

    fn take_all(&mut self, wait: Duration) {
        let all: Vec<i32> = self.partitions.keys().copied().collect();
        all.into_iter().for_each(|partition| self.take(partition, wait));
    }

    fn forget(&mut self, index: i32) {
        self.uncommitted.remove(&index);
        if let Some(partition) = self.partitions.remove(&index) {
            partition.cancel.cancel();
            self.crew.meter.lag(index).set(0.0);
        }
    }

    fn let_go(&self, index: i32) {
        if !self.consumer.context().fetches(index) {
            return;
        }
        if let Err(error) = self.consumer.context().let_go(&self.consumer, &self.crew.options.topic, &[index])
        {
            tracing::warn!(partition = index, %error, "the client did not let go of a partition");
        }
    }

    /// Fetches a partition from the position that was loaded for it.
    fn start(&mut self, ticket: Ticket, loaded: Loaded) {
        let index = ticket.partition;
        let Some(partition) = self.held(ticket) else { return };
        let (fence, next_offset) = (loaded.fence, loaded.next_offset);
        partition.stage = Stage::Running(Running::new(loaded));
        let fetching = self
            .list(&[(index, Offset::Offset(next_offset))])
            .and_then(|list| self.consumer.context().fetch(&self.consumer, &list, index));
        match fetching {
            Ok(()) => tracing::info!(
                consumer_group = self.crew.options.group,
                topic = self.crew.options.topic,
                partition = index,
                fence,
                next_offset,
                "partition started"
            ),
            Err(error) => {
                tracing::warn!(partition = index, %error, "the client did not take a partition");
                self.take(index, FENCED_WAIT);
            }
        }
    }

    fn hand_out(&mut self) {
        for partition in self.partitions.values_mut() {
            let (ticket, cancel) = (partition.ticket, partition.cancel.clone());
            let batch = partition.running().and_then(|running| running.next_batch(&self.crew.options));
            let Some((holding, records)) = batch else { continue };
            let crew = Arc::clone(&self.crew);
            self.runtime.spawn(async move {
                let finished = apply(&crew, ticket, holding, records, &cancel).await;
                crew.signal(Signal::Finished(ticket, finished));
            });
        }
    }

    /// Pauses and resumes what the buffers ask for, and answers whether one of them holds the loop.
    fn steer(&mut self) -> bool {
        let now = Instant::now();
        let flows: Vec<(i32, Flow)> = self
            .partitions
            .iter_mut()
            .filter_map(|(index, partition)| {
                Some((*index, partition.running()?.flow(now, &self.crew.options)))
            })
            .collect();
        let mut hold = false;
        for (index, flow) in flows {
            let list = self.list(&[(index, Offset::Invalid)]);
            let steered = match flow {
                Flow::Keep => Ok(()),
                Flow::Hold => {
                    hold = true;
                    Ok(())
                }
                Flow::Pause => list.and_then(|list| self.consumer.pause(&list)),
                Flow::Resume => list.and_then(|list| self.consumer.resume(&list)),
            };
            if let Err(error) = steered {
                tracing::warn!(partition = index, %error, "the client did not change a partition's flow");
            }
        }
        hold
    }

    fn in_flight(&mut self) -> bool {
        self.partitions
            .values_mut()
            .any(|partition| partition.running().is_some_and(|running| running.in_flight()))
    }

    /// Kafka's own offsets follow, for the eyes of lag tools. Nothing here ever reads them.
    fn commit(&mut self) {
        let offsets: Vec<_> = std::mem::take(&mut self.uncommitted)
            .into_iter()
            .map(|(index, next)| (index, Offset::Offset(next)))
            .collect();
        if offsets.is_empty() {
            return;
        }
        let sent = self.list(&offsets).and_then(|list| self.consumer.commit(&list, CommitMode::Async));
        if let Err(error) = sent {
            tracing::debug!(consumer_group = self.crew.options.group, %error, "offsets were not sent to Kafka");
        }
    }

    fn measure_lag(&mut self) {
        for (index, partition) in &mut self.partitions {
            let Some(running) = partition.running() else { continue };
            if let Some(end) = cached_end(self.consumer.client(), &self.topic, *index) {
                let lag = end.saturating_sub(running.next_offset()).max(0);
                self.crew.meter.lag(*index).set(lag as f64);
            }
        }
    }

    fn list(&self, offsets: &[(i32, Offset)]) -> KafkaResult<TopicPartitionList> {
        let mut list = TopicPartitionList::with_capacity(offsets.len());
        for (partition, offset) in offsets {
            list.add_partition_offset(&self.crew.options.topic, *partition, *offset)?;
        }
        Ok(list)
    }

    fn fatal(&self, source: KafkaError) -> ConsumerError {
        ConsumerError::Fatal { group: self.crew.options.group.clone(), source }
    }
}
