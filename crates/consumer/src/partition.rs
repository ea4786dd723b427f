//! A partition that the group gave to this process: being taken, or running.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::buffer::Buffer;
use crate::crew::Ticket;
use crate::load::Loaded;
use crate::options::ConsumerOptions;
use crate::record::Record;
use crate::transaction::Holding;

/// One holding of one partition.
#[derive(Debug)]
pub(crate) struct Partition {
    pub(crate) ticket: Ticket,
    /// Ends the holding's tasks.
    pub(crate) cancel: CancellationToken,
    pub(crate) stage: Stage,
}

/// How far a holding is.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Its position is being read; it may be halted.
    Loading,
    /// It is fetched and applied.
    Running(Running),
}

/// A partition that is fetched and applied.
#[derive(Debug)]
pub(crate) struct Running {
    holding: Holding,
    /// No record below this offset is taken in any more.
    fetch_offset: i64,
    buffer: Buffer,
    in_flight: bool,
    paused: bool,
    /// Since when its buffer is full without a batch having been taken out of it.
    full_since: Option<Instant>,
}

/// What a partition asks of the poll loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Go on.
    Keep,
    /// Take nothing in for a moment: its buffer is full, and a batch of it will soon be done. Cheap, but it holds up every
    /// partition.
    Hold,
    /// It has been full for longer: stop fetching it, so that the others go on. What the client fetched ahead of it is
    /// thrown away and fetched again, up to a second later.
    Pause,
    /// It has room again.
    Resume,
}

/// How long a full buffer may hold the others up before its partition is paused.
pub(crate) const HOLD_MAX: Duration = Duration::from_millis(200);

impl Partition {
    pub(crate) fn running(&mut self) -> Option<&mut Running> {
        match &mut self.stage {
            Stage::Running(running) => Some(running),
            Stage::Loading => None,
        }
    }
}

impl Running {
    pub(crate) fn new(loaded: Loaded) -> Self {
        let Loaded { topic_id, fence, next_offset } = loaded;
        Self {
            holding: Holding { topic_id, fence, next_offset },
            fetch_offset: next_offset,
            buffer: Buffer::default(),
            in_flight: false,
            paused: false,
            full_since: None,
        }
    }

    /// Takes a fetched record in, and answers whether the buffer is full now. A copy of a record that was taken in already
    /// is dropped.
    pub(crate) fn take_in(&mut self, record: Record, bounds: &ConsumerOptions) -> bool {
        if record.offset >= self.fetch_offset {
            self.fetch_offset = record.offset + 1;
            self.buffer.push(record);
        }
        self.is_full(bounds)
    }

    fn is_full(&self, bounds: &ConsumerOptions) -> bool {
        self.buffer.bytes() >= bounds.buffer_bytes_max
    }

    /// The next batch, unless one is under way or nothing waits.
    pub(crate) fn next_batch(&mut self, bounds: &ConsumerOptions) -> Option<(Holding, Vec<Record>)> {
        if self.in_flight {
            return None;
        }
        let records = self.buffer.cut(bounds.batch_records_max, bounds.batch_bytes_max);
        self.in_flight = !records.is_empty();
        self.full_since = None;
        self.in_flight.then(|| (self.holding.clone(), records))
    }

    /// What the buffer's fill asks for. A paused partition resumes at half of its bound, so that it does not flutter.
    pub(crate) fn flow(&mut self, now: Instant, bounds: &ConsumerOptions) -> Flow {
        if self.paused {
            self.paused = self.buffer.bytes() > bounds.buffer_bytes_max / 2;
            return if self.paused { Flow::Keep } else { Flow::Resume };
        }
        if !self.is_full(bounds) {
            self.full_since = None;
            return Flow::Keep;
        }
        if now.duration_since(*self.full_since.get_or_insert(now)) < HOLD_MAX {
            return Flow::Hold;
        }
        self.paused = true;
        Flow::Pause
    }

    pub(crate) fn committed(&mut self, next_offset: i64) {
        self.holding.next_offset = next_offset;
    }

    pub(crate) fn finished(&mut self) {
        self.in_flight = false;
    }

    /// Whether there is a next batch.
    pub(crate) fn is_ready(&self) -> bool {
        !self.in_flight && !self.buffer.is_empty()
    }

    pub(crate) fn in_flight(&self) -> bool {
        self.in_flight
    }

    pub(crate) fn next_offset(&self) -> i64 {
        self.holding.next_offset
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{Flow, HOLD_MAX, Running};
    use crate::ConsumerOptions;
    use crate::load::Loaded;
    use crate::record::Record;

    fn running(next_offset: i64) -> Running {
        Running::new(Loaded { topic_id: "id".into(), fence: 1, next_offset })
    }

    fn bounds() -> ConsumerOptions {
        ConsumerOptions { buffer_bytes_max: 1_000, ..ConsumerOptions::new("g", "t", Vec::new()) }
    }

    fn record(offset: i64) -> Record {
        Record { payload: Some(vec![0; 300]), ..Record::new("t", 0, offset) }
    }

    #[test]
    fn one_batch_at_a_time_begins_where_the_last_one_was_committed() {
        let (mut partition, bounds) = (running(5), bounds());
        partition.take_in(record(5), &bounds);
        let (holding, records) = partition.next_batch(&bounds).unwrap();
        assert_eq!((holding.next_offset, records.len()), (5, 1));
        // Offset 6 was compacted away.
        partition.take_in(record(7), &bounds);
        assert!(partition.next_batch(&bounds).is_none());
        partition.committed(6);
        partition.finished();
        let (holding, records) = partition.next_batch(&bounds).unwrap();
        assert_eq!((holding.next_offset, records[0].offset), (6, 7));
    }

    #[test]
    fn a_record_from_before_the_position_or_a_second_copy_is_dropped() {
        let (mut partition, bounds) = (running(5), bounds());
        for offset in [3, 5, 5, 4, 6] {
            partition.take_in(record(offset), &bounds);
        }
        let (_, records) = partition.next_batch(&bounds).unwrap();
        assert_eq!(records.iter().map(|record| record.offset).collect::<Vec<_>>(), [5, 6]);
    }

    #[test]
    fn a_full_buffer_holds_the_loop_then_pauses_once_and_resumes_once_at_half() {
        let (mut partition, bounds, began) = (running(0), bounds(), Instant::now());
        let full: Vec<_> = (0..3).map(|offset| partition.take_in(record(offset), &bounds)).collect();
        assert_eq!(full, [false, false, true]);
        assert_eq!(partition.flow(began, &bounds), Flow::Hold);
        assert_eq!(partition.flow(began + HOLD_MAX, &bounds), Flow::Pause);
        assert_eq!(partition.flow(began + HOLD_MAX * 2, &bounds), Flow::Keep);
        partition.next_batch(&bounds);
        assert_eq!(
            (partition.flow(began, &bounds), partition.flow(began, &bounds)),
            (Flow::Resume, Flow::Keep)
        );
    }

    #[test]
    fn a_partition_whose_batches_get_done_is_never_paused() {
        let (mut partition, mut now) = (running(0), Instant::now());
        let bounds = ConsumerOptions { batch_records_max: 1, ..bounds() };
        for offset in 0..20 {
            partition.take_in(record(offset), &bounds);
            now += HOLD_MAX / 2;
            assert!(matches!(partition.flow(now, &bounds), Flow::Keep | Flow::Hold));
            partition.next_batch(&bounds);
            partition.finished();
        }
    }
}
