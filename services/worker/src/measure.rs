//! What a file holds, measured as its bytes go by: the same measure on the way out and when it is read back.

use sha2::{Digest, Sha256};
use waybill_store::candidate::Verified;

use crate::csv_records::RecordCounter;

/// A running digest, size and record count.
#[derive(Debug, Default)]
pub(crate) struct Measure {
    sha256: Sha256,
    bytes: u64,
    records: RecordCounter,
}

impl Measure {
    /// Takes the next bytes of the file.
    pub(crate) fn update(&mut self, chunk: &[u8]) {
        self.sha256.update(chunk);
        self.bytes += chunk.len() as u64;
        self.records.update(chunk);
    }

    /// Rows so far: the header, which is always there, is none.
    pub(crate) fn rows(&self) -> i64 {
        saturated(self.records.records().saturating_sub(1))
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> i64 {
        saturated(self.bytes)
    }

    /// The measure of the whole file.
    pub(crate) fn finish(self) -> Verified {
        Verified { rows: self.rows(), bytes: saturated(self.bytes), sha256: self.sha256.finalize().into() }
    }
}

/// Postgres counts in `bigint`; a file beyond it cannot exist.
fn saturated(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Measure;

    #[test]
    fn the_header_is_no_row_and_every_byte_is_digested() {
        let mut measure = Measure::default();
        measure.update(b"id,no");
        measure.update(b"te\n1,x\n");
        let verified = measure.finish();
        assert_eq!((verified.rows, verified.bytes), (1, 12));
        let mut whole = Measure::default();
        whole.update(b"id,note\n1,x\n");
        assert_eq!(whole.finish(), verified);
    }
}
