//! A partition that the group gave to this process: being taken, or running.

use crate::buffer::Buffer;
use crate::crew::Ticket;
use crate::load::Loaded;
use crate::options::ConsumerOptions;
use crate::record::Record;
use crate::transaction::Holding;
use tokio_util::sync::CancellationToken;

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
}

/// What the client is to be told about a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Keep,
    Pause,
    Resume,
}

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
        }
    }

    /// Takes a fetched record in. A copy of one that was taken in already is dropped.
    pub(crate) fn take_in(&mut self, record: Record, bounds: &ConsumerOptions) -> Flow {
        if record.offset < self.fetch_offset {
            return Flow::Keep;
        }
        self.fetch_offset = record.offset + 1;
        self.buffer.push(record);
        if self.buffer.bytes() >= bounds.buffer_bytes_max && !std::mem::replace(&mut self.paused, true) {
            return Flow::Pause;
        }
        Flow::Keep
    }

    /// The next batch, unless one is under way or nothing waits.
    pub(crate) fn next_batch(&mut self, bounds: &ConsumerOptions) -> Option<(Holding, Vec<Record>)> {
        if self.in_flight {
            return None;
        }
        let records = self.buffer.cut(bounds.batch_records_max, bounds.batch_bytes_max);
        self.in_flight = !records.is_empty();
        self.in_flight.then(|| (self.holding.clone(), records))
    }

    /// Whether a paused partition has room again: at half of its bound, so that it does not flutter.
    pub(crate) fn relieve(&mut self, bounds: &ConsumerOptions) -> Flow {
        if self.paused && self.buffer.bytes() <= bounds.buffer_bytes_max / 2 {
            self.paused = false;
            return Flow::Resume;
        }
        Flow::Keep
    }

    pub(crate) fn committed(&mut self, next_offset: i64) {
        self.holding.next_offset = next_offset;
    }

    pub(crate) fn finished(&mut self) {
        self.in_flight = false;
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
    use super::{Flow, Running};
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
    fn a_full_buffer_pauses_once_and_an_emptied_one_resumes_once() {
        let (mut partition, bounds) = (running(0), bounds());
        let flows: Vec<_> = (0..4).map(|offset| partition.take_in(record(offset), &bounds)).collect();
        assert_eq!(flows, [Flow::Keep, Flow::Keep, Flow::Pause, Flow::Keep]);
        assert_eq!(partition.relieve(&bounds), Flow::Keep);
        partition.next_batch(&bounds);
        assert_eq!((partition.relieve(&bounds), partition.relieve(&bounds)), (Flow::Resume, Flow::Keep));
    }
}
