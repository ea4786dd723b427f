//! Requests of Kafka's protocol as they pass: which partition one produces to, and how it is changed.
//!
//! Deliberately absent: every other request, and versions of Produce before 9, which librdkafka sends to old brokers alone.

/// The number of the request Produce.
const PRODUCE: i16 = 0;

/// From this version on lengths are variable.
const FLEXIBLE: i16 = 9;

/// What a Produce request ends with behind its records: no tags of the partition, the topic and the request.
const TAGS_BYTES: usize = 3;

/// A partition that no topic of a test has.
const NOBODYS: i32 = 999_999;

/// Where a Produce request says to which partition it goes. librdkafka sends each partition's in a request of its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) topic: Vec<u8>,
    pub(super) partition: i32,
    /// Where the partition's number stands.
    place: usize,
}

impl Target {
    /// The target of a request without its length, `None` when it is no Produce request.
    pub(super) fn of(request: &[u8]) -> Option<Self> {
        let mut reader = Reader { bytes: request, place: 0 };
        let (api_key, version) = (reader.int16()?, reader.int16()?);
        if api_key != PRODUCE || version < FLEXIBLE {
            return None;
        }
        // The correlation id, the client's name and no tags.
        reader.skip(4)?;
        let client = usize::try_from(reader.int16()?).unwrap_or(0);
        reader.skip(client + 1)?;
        // No transaction; acks and timeout; an array of one topic.
        reader.skip(1 + 2 + 4 + 1)?;
        let name = reader.length()?.checked_sub(1)?;
        let topic = reader.skip(name)?.to_vec();
        // An array of one partition.
        reader.skip(1)?;
        let place = reader.place;
        let partition = i32::from_be_bytes(reader.skip(4)?.try_into().ok()?);
        Some(Self { topic, partition, place })
    }

    /// Lets the request go to a partition that there is not.
    pub(super) fn lead_astray(&self, request: &mut [u8]) {
        if let Some(number) = request.get_mut(self.place..self.place + 4) {
            number.copy_from_slice(&NOBODYS.to_be_bytes());
        }
    }

    /// Turns over a bit of the last record.
    pub(super) fn corrupt(request: &mut [u8]) {
        if let Some(last) = request.len().checked_sub(TAGS_BYTES + 1).and_then(|place| request.get_mut(place))
        {
            *last ^= 1;
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    place: usize,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, count: usize) -> Option<&'a [u8]> {
        let skipped = self.bytes.get(self.place..self.place.checked_add(count)?)?;
        self.place += count;
        Some(skipped)
    }

    fn int16(&mut self) -> Option<i16> {
        Some(i16::from_be_bytes(self.skip(2)?.try_into().ok()?))
    }

    /// Seven bits a byte, the lowest ones first.
    fn length(&mut self) -> Option<usize> {
        let mut length = 0;
        for shift in (0..28).step_by(7) {
            let byte = usize::from(*self.skip(1)?.first()?);
            length |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(length);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_produce_request_is_led_astray_by_its_partitions_number_alone() {
        let mut request = vec![0, 0, 0, 10, 0, 0, 0, 7, 0, 2];
        request.extend(b"me\0\0\xff\xff\0\0\x75\x30\x02\x07orders\x02");
        let before = request.len();
        request.extend([0, 0, 0, 3, 9, 9, 9]);
        let target = Target::of(&request).expect("a Produce request");
        assert_eq!(target, Target { topic: b"orders".to_vec(), partition: 3, place: before });
        target.lead_astray(&mut request);
        assert_eq!(Target::of(&request).expect("still one").partition, NOBODYS);
        assert_eq!(request[before + 4..], [9, 9, 9]);
    }

    #[test]
    fn other_requests_and_pieces_of_one_are_left_alone() {
        assert_eq!(Target::of(&[0, 3, 0, 12, 0, 0, 0, 1, 0, 0]), None);
        assert_eq!(Target::of(&[0, 0, 0, 10, 0, 0]), None);
        assert_eq!(Target::of(&[]), None);
    }
}
