//! Which rows wait although the cursor may pass them, and when they may go on: decisions in memory, loaded with the lease.
//!
//! Deliberately absent: the database and Kafka. Every hold is written before it counts here.

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};
use tokio::time::Instant;
use waybill_outbox::hold::{KEY_DIGEST_BYTES, OpenHold, Scope};

use crate::backoff::Backoff;

/// Above so many holds nothing more is parked: the relay waits at the row instead, and says so.
pub(crate) const HOLDS_MAX: usize = 10_000;

/// The waits between two tries of what is held, which grow while they fail.
const RETRY: Backoff = Backoff::new(std::time::Duration::from_secs(1), std::time::Duration::from_secs(30));

type KeyDigest = [u8; KEY_DIGEST_BYTES];

/// What a row may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Be sent.
    Open,
    /// Wait under that hold; `is_refused` when it is the cause.
    Held { hold_id: i64, is_refused: bool },
}

/// One hold, and what is wanted of it.
#[derive(Debug, Clone)]
pub(crate) struct Hold {
    /// As it is stored.
    pub(crate) stored: OpenHold,
    /// A probe found that its topic takes rows again.
    is_proven: bool,
    not_before: Instant,
    retry: Backoff,
}

/// The holds of one topic.
#[derive(Debug, Default)]
struct OfTopic {
    whole: Option<i64>,
    keys: HashMap<KeyDigest, i64>,
}

/// Every open hold.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    by_id: BTreeMap<i64, Hold>,
    topics: HashMap<String, OfTopic>,
    /// Refused rows that the cursor has not passed yet, and their holds.
    refused: BTreeMap<i64, i64>,
}

impl Holds {
    /// Whether nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Whether no further hold may be opened.
    pub(crate) fn is_full(&self) -> bool {
        self.by_id.len() >= HOLDS_MAX
    }

    /// Takes what is stored for the truth. How long to wait before the next try is remembered.
    pub(crate) fn reload(&mut self, stored: Vec<OpenHold>) {
        let known = std::mem::take(self);
        for hold in stored {
            let waits = known.by_id.get(&hold.hold_id).map(|hold| (hold.not_before, hold.retry.clone()));
            let hold_id = hold.hold_id;
            self.opened(hold);
            if let (Some((not_before, retry)), Some(hold)) = (waits, self.by_id.get_mut(&hold_id)) {
                (hold.not_before, hold.retry) = (not_before, retry);
            }
        }
    }

    /// Notes a hold that was opened.
    pub(crate) fn opened(&mut self, stored: OpenHold) {
        let of_topic = self.topics.entry(stored.topic.clone()).or_default();
        match (stored.scope, stored.key_digest) {
            (Scope::Topic, _) => of_topic.whole = Some(stored.hold_id),
            (Scope::Key, Some(digest)) => {
                of_topic.keys.insert(digest, stored.hold_id);
            }
            (Scope::Key | Scope::Row, _) => {}
        }
        let hold = Hold { stored, is_proven: false, not_before: Instant::now(), retry: RETRY };
        self.by_id.entry(hold.stored.hold_id).or_insert(hold);
    }

    /// Notes that a row which is still in the window is the cause of a hold.
    pub(crate) fn refused(&mut self, seq: i64, hold_id: i64) {
        self.refused.insert(seq, hold_id);
    }

    /// Notes that the cursor passed the rows up to this one: those that were refused are parked.
    pub(crate) fn passed(&mut self, last_seq: i64) {
        self.refused = self.refused.split_off(&last_seq.saturating_add(1));
    }

    /// Notes that a hold has ended: its key or topic flows again.
    pub(crate) fn ended(&mut self, hold_id: i64) {
        let Some(Hold { stored, .. }) = self.by_id.remove(&hold_id) else { return };
        let Some(of_topic) = self.topics.get_mut(&stored.topic) else { return };
        of_topic.whole = of_topic.whole.filter(|whole| *whole != hold_id);
        of_topic.keys.retain(|_, held| *held != hold_id);
        if of_topic.whole.is_none() && of_topic.keys.is_empty() {
            self.topics.remove(&stored.topic);
        }
    }

    /// What a row of the window may do. A held key's rows go under the key's hold, though the topic be held as well.
    pub(crate) fn way(&self, seq: i64, topic: &str, key: Option<&[u8]>) -> Way {
        if let Some(hold_id) = self.refused.get(&seq) {
            return Way::Held { hold_id: *hold_id, is_refused: true };
        }
        let Some(of_topic) = self.topics.get(topic) else { return Way::Open };
        let of_key = key
            .filter(|_| !of_topic.keys.is_empty())
            .and_then(|key| of_topic.keys.get::<KeyDigest>(&Sha256::digest(key).into()));
        match of_key.copied().or(of_topic.whole) {
            Some(hold_id) => Way::Held { hold_id, is_refused: false },
            None => Way::Open,
        }
    }

    /// The hold of a whole topic.
    pub(crate) fn of_topic(&self, topic: &str) -> Option<i64> {
        self.topics.get(topic)?.whole
    }

    /// A hold.
    pub(crate) fn get(&self, hold_id: i64) -> Option<&Hold> {
        self.by_id.get(&hold_id)
    }

    /// Every hold, in the order in which they were opened.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &OpenHold> {
        self.by_id.values().map(|hold| &hold.stored)
    }

    /// Takes over who wants what to go on. For a topic that means to try it now.
    pub(crate) fn requested(&mut self, requests: &[(i64, SystemTime)], now: Instant) {
        for hold in self.by_id.values_mut() {
            hold.stored.resume_requested_at = None;
        }
        for (hold_id, at) in requests {
            if let Some(hold) = self.by_id.get_mut(hold_id) {
                hold.stored.resume_requested_at = Some(*at);
                if hold.stored.scope == Scope::Topic {
                    hold.not_before = hold.not_before.min(now);
                }
            }
        }
    }

    /// Which holds of topics are to be tried now, apart from those that are being tried.
    pub(crate) fn due_probes(&mut self, now: Instant, is_tried: impl Fn(i64) -> bool) -> Vec<i64> {
        let due = self.by_id.values_mut().filter(|hold| {
            let is_due = hold.stored.scope == Scope::Topic && !hold.is_proven && hold.not_before <= now;
            is_due && !is_tried(hold.stored.hold_id)
        });
        due.map(|hold| {
            // The next one follows the answer; should none come, it follows by itself.
            hold.not_before = now + hold.retry.next();
            hold.stored.hold_id
        })
        .collect()
    }

    /// Notes that a topic takes rows again.
    pub(crate) fn proven(&mut self, hold_id: i64) {
        if let Some(hold) = self.by_id.get_mut(&hold_id) {
            hold.is_proven = true;
        }
    }

    /// Notes that a request was answered.
    pub(crate) fn answered(&mut self, hold_id: i64) {
        if let Some(hold) = self.by_id.get_mut(&hold_id) {
            hold.stored.resume_requested_at = None;
        }
    }

    /// Notes why a hold lasts.
    pub(crate) fn explained(&mut self, hold_id: i64, code: &str, detail: &str) {
        if let Some(hold) = self.by_id.get_mut(&hold_id) {
            code.clone_into(&mut hold.stored.code);
            detail.clone_into(&mut hold.stored.detail);
        }
    }

    /// Notes that a hold's rows could not be sent after all, or are refused: it is tried again later, or when asked to.
    pub(crate) fn stands(&mut self, hold_id: i64, now: Instant) {
        if let Some(hold) = self.by_id.get_mut(&hold_id) {
            hold.is_proven = false;
            hold.not_before = now + hold.retry.next();
        }
    }

    /// The hold that goes on next. A topic's, once it was found to take rows; a key's or a row's, once somebody wants it
    /// and unless its topic is held, too. None whose cause the cursor has yet to pass: it would end before its first row.
    pub(crate) fn resumable(&self, now: Instant) -> Option<i64> {
        let goes_on = |hold: &&Hold| {
            let stored = &hold.stored;
            if self.refused.values().any(|hold_id| *hold_id == stored.hold_id) {
                return false;
            }
            match stored.scope {
                Scope::Topic => hold.is_proven,
                Scope::Key | Scope::Row => {
                    stored.resume_requested_at.is_some()
                        && hold.not_before <= now
                        && self.of_topic(&stored.topic).is_none()
                }
            }
        };
        self.by_id.values().find(goes_on).map(|hold| hold.stored.hold_id)
    }
}

#[cfg(test)]
mod tests;
