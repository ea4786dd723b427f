//! What was fetched of one partition and waits for its transaction, and how much of it makes one batch.

use std::collections::VecDeque;

use crate::record::Record;

/// Records of one partition in offset order, with their size.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    records: VecDeque<Record>,
    bytes: usize,
}

impl Buffer {
    pub(crate) fn push(&mut self, record: Record) {
        self.bytes += record.size_bytes();
        self.records.push_back(record);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Takes the longest run from the front that stays within both bounds, and one record at least if there is any: a
    /// record above the byte bound is a batch of its own.
    pub(crate) fn cut(&mut self, records_max: usize, bytes_max: usize) -> Vec<Record> {
        let mut bytes = 0;
        let mut count = 0;
        for record in self.records.iter().take(records_max.max(1)) {
            let size = record.size_bytes();
            if count > 0 && bytes + size > bytes_max {
                break;
            }
            bytes += size;
            count += 1;
        }
        self.bytes -= bytes;
        self.records.drain(..count).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Buffer;
    use crate::record::Record;

    fn record(offset: i64, payload_bytes: usize) -> Record {
        Record { payload: Some(vec![0; payload_bytes]), ..Record::new("t", 0, offset) }
    }

    #[test]
    fn a_record_above_the_bound_is_a_batch_of_its_own() {
        let mut buffer = Buffer::default();
        for (offset, size) in [(0, 9_000), (1, 10)] {
            buffer.push(record(offset, size));
        }
        assert_eq!(buffer.cut(10, 1_000).len(), 1);
        assert_eq!(buffer.cut(10, 1_000).len(), 1);
        assert!(buffer.cut(10, 1_000).is_empty());
    }

    proptest! {
        #[test]
        fn cutting_keeps_every_record_once_in_order_within_the_bounds(
            sizes in proptest::collection::vec(0_usize..3_000, 0..60),
            records_max in 1_usize..20,
            bytes_max in 1_usize..5_000,
        ) {
            let mut buffer = Buffer::default();
            for (offset, size) in sizes.iter().enumerate() {
                buffer.push(record(i64::try_from(offset).unwrap(), *size));
            }
            let mut offsets = Vec::new();
            loop {
                let batch = buffer.cut(records_max, bytes_max);
                if batch.is_empty() {
                    break;
                }
                let bytes: usize = batch.iter().map(Record::size_bytes).sum();
                prop_assert!(batch.len() <= records_max);
                prop_assert!(batch.len() == 1 || bytes <= bytes_max);
                offsets.extend(batch.iter().map(|record| record.offset));
            }
            prop_assert_eq!(buffer.bytes(), 0);
            let expected: Vec<i64> = (0..).take(sizes.len()).collect();
            prop_assert_eq!(offsets, expected);
        }
    }
}
