//! What a fact says, in 32 bytes: by it two records with one event key are known to be the same fact, or not to be.
//!
//! The list of what counts is frozen: type and data as they were when its version was made. What a later schema adds is not
//! in it, so a fact has one fingerprint whichever schema it was written with, whatever a reader's schema adds to it, and
//! in whichever envelope it came. Deliberately absent: source, id and time, which are the envelope's.

use sha2::{Digest, Sha256};

use crate::fact::{ExportSnapshot, Fact};

/// The list that is in force. Another one gets another number, and fingerprints of different numbers say nothing of each other.
const VERSION: u8 = 1;

/// A fact's fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    version: u8,
    sha256: [u8; 32],
}

impl Fingerprint {
    /// The fingerprint of a fact.
    pub fn of(fact: &Fact) -> Self {
        let mut hashed = Hashed(Sha256::new());
        hashed.text(fact.kind.type_name());
        hashed.export(&fact.export);
        Self { version: VERSION, sha256: hashed.0.finalize().into() }
    }

    /// As it is stored: the list's number and the digest, 33 bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        [&[self.version], self.sha256.as_slice()].concat()
    }
}

/// Hashes values so that no two lists of them give the same bytes: each has its length, or is of a fixed one.
struct Hashed(Sha256);

impl Hashed {
    /// List 1. Neither its order nor anything in it ever changes.
    fn export(&mut self, export: &ExportSnapshot) {
        self.text(export.export_id.as_str());
        self.text(export.tenant_id.as_str());
        self.text(export.service_account_id.as_str());
        self.number(export.version);
        self.text(export.state.as_str());
        self.text(&export.dataset);
        self.text(&export.format);
        self.optional(export.name.as_deref());
        self.count(export.labels.len());
        for (key, value) in &export.labels {
            self.text(key);
            self.text(value);
        }
        self.count(export.notify.len());
        for notify in &export.notify {
            self.text(notify.channel.as_str());
            self.text(&notify.target);
        }
        self.number(export.fence);
        self.optional_number(export.rows);
        self.optional_number(export.bytes);
        self.optional(export.sha256.as_deref());
        self.optional(export.result_id.as_ref().map(waybill_domain::ids::CandidateId::as_str));
        self.optional(export.failure_code.as_deref());
        self.optional(export.failure_detail.as_deref());
        self.number(export.accepted_at.as_microsecond());
        self.optional_number(export.finished_at.map(jiff::Timestamp::as_microsecond));
    }

    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text);
    }

    fn number(&mut self, number: i64) {
        self.0.update(number.to_be_bytes());
    }

    fn optional(&mut self, text: Option<&str>) {
        self.0.update([u8::from(text.is_some())]);
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn optional_number(&mut self, number: Option<i64>) {
        self.0.update([u8::from(number.is_some())]);
        if let Some(number) = number {
            self.number(number);
        }
    }
}
