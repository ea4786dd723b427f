//! Which rows wait although the cursor may pass them, and when they may go on: decisions in memory, loaded with the lease.
//!
//! Deliberately absent: the database and Kafka. Every hold is written before it counts here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    /// So many refused rows of it has the cursor yet to pass.
    refused: usize,
    /// So many rows were parked under it since its last turn.
    parked: u64,
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
    /// The holds that somebody wants to go on, or whose topic takes rows again. Few of all, as a rule.
    wanted: BTreeSet<i64>,
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
        let hold_id = stored.hold_id;
        self.by_id.entry(hold_id).or_insert_with(|| Hold {
            stored,
            is_proven: false,
            refused: 0,
            parked: 0,
            not_before: Instant::now(),
            retry: RETRY,
        });
        self.sort(hold_id);
    }

    /// Notes that a row which is still in the window is the cause of an open hold.
    pub(crate) fn refused(&mut self, seq: i64, hold_id: i64) {
        if let Some(hold) = self.by_id.get_mut(&hold_id)
            && self.refused.insert(seq, hold_id).is_none()
        {
            hold.refused += 1;
        }
    }

    /// Notes that the cursor passed the rows up to this one: those that were refused are parked.
    pub(crate) fn passed(&mut self, last_seq: i64) {
        while let Some(first) = self.refused.first_entry().filter(|first| *first.key() <= last_seq) {
            if let Some(hold) = self.by_id.get_mut(&first.remove()) {
                hold.refused -= 1;
            }
        }
    }

    /// Notes that a row was parked under a hold.
    pub(crate) fn parked(&mut self, hold_id: i64) {
        if let Some(hold) = self.by_id.get_mut(&hold_id) {
            hold.parked += 1;
        }
    }

    /// A hold has its turn: how many rows were parked under it since the last one.
    pub(crate) fn take_parked(&mut self, hold_id: i64) -> u64 {
        self.by_id.get_mut(&hold_id).map_or(0, |hold| std::mem::take(&mut hold.parked))
    }

    /// Notes that a hold has ended: its key or topic flows again.
    pub(crate) fn ended(&mut self, hold_id: i64) {
        let Some(Hold { stored, .. }) = self.by_id.remove(&hold_id) else { return };
        self.wanted.remove(&hold_id);
        let Some(of_topic) = self.topics.get_mut(&stored.topic) else { return };
        of_topic.whole = of_topic.whole.filter(|whole| *whole != hold_id);
        if let Some(digest) = stored.key_digest {
            of_topic.keys.remove(&digest);
        }
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
        for hold_id in std::mem::take(&mut self.wanted) {
            self.answered(hold_id);
        }
        for (hold_id, at) in requests {
            if let Some(hold) = self.by_id.get_mut(hold_id) {
                hold.stored.resume_requested_at = Some(*at);
                if hold.stored.scope == Scope::Topic {
                    hold.not_before = hold.not_before.min(now);
                }
                self.sort(*hold_id);
            }
        }
    }

    /// Which holds of topics are to be tried now, apart from those that are being tried.
    pub(crate) fn due_probes(&mut self, now: Instant, is_tried: impl Fn(i64) -> bool) -> Vec<i64> {
        let mut due = Vec::new();
        for hold_id in self.topics.values().filter_map(|of_topic| of_topic.whole) {
            let Some(hold) = self.by_id.get_mut(&hold_id) else { continue };
            if !hold.is_proven && hold.not_before <= now && !is_tried(hold_id) {
                // The next one follows the answer; should none come, it follows by itself.
                hold.not_before = now + hold.retry.next();
                due.push(hold_id);
            }
        }
        due.sort_unstable();
        due
    }

    /// Notes that a topic takes rows again.
    pub(crate) fn proven(&mut self, hold_id: i64) {
        if let Some(hold) = self.by_id.get_mut(&hold_id) {
            hold.is_proven = true;
        }
        self.sort(hold_id);
    }

    /// Notes that a request was answered.
    pub(crate) fn answered(&mut self, hold_id: i64) {
        if let Some(hold) = self.by_id.get_mut(&hold_id) {
            hold.stored.resume_requested_at = None;
        }
        self.sort(hold_id);
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
        self.sort(hold_id);
    }

    /// The hold that goes on next. A topic's, once it was found to take rows; a key's or a row's, once somebody wants it
    /// and unless its topic is held, too. None whose cause the cursor has yet to pass: it would end before its first row.
    pub(crate) fn resumable(&self, now: Instant) -> Option<i64> {
        let goes_on = |hold: &&Hold| {
            let stored = &hold.stored;
            hold.refused == 0
                && match stored.scope {
                    Scope::Topic => hold.is_proven,
                    Scope::Key | Scope::Row => {
                        stored.resume_requested_at.is_some()
                            && hold.not_before <= now
                            && self.of_topic(&stored.topic).is_none()
                    }
                }
        };
        let mut wanted = self.wanted.iter().filter_map(|hold_id| self.by_id.get(hold_id));
        wanted.find(goes_on).map(|hold| hold.stored.hold_id)
    }

    /// Notes whether a hold is wanted to go on.
    fn sort(&mut self, hold_id: i64) {
        let hold = self.by_id.get(&hold_id);
        if hold.is_some_and(|hold| hold.is_proven || hold.stored.resume_requested_at.is_some()) {
            self.wanted.insert(hold_id);
        } else {
            self.wanted.remove(&hold_id);
        }
    }
}

#[cfg(test)]
mod tests;
