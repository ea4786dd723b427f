use proptest::prelude::*;

use super::*;

fn hold(hold_id: i64, scope: Scope, topic: &str, key: Option<&[u8]>) -> OpenHold {
    OpenHold {
        hold_id,
        scope,
        topic: topic.to_owned(),
        key_digest: key.map(|key| Sha256::digest(key).into()),
        code: "code".to_owned(),
        detail: "detail".to_owned(),
        resume_requested_at: None,
        is_empty: false,
    }
}

fn held(hold_id: i64, is_refused: bool) -> Way {
    Way::Held { hold_id, is_refused }
}

#[test]
fn a_keys_later_rows_wait_and_every_other_key_and_topic_flows() {
    let mut holds = Holds::default();
    holds.opened(hold(1, Scope::Key, "one", Some(b"a")));
    holds.refused(7, 1);
    assert_eq!(holds.way(7, "one", Some(b"a")), held(1, true));
    assert_eq!(holds.way(8, "one", Some(b"a")), held(1, false));
    assert_eq!(holds.way(9, "one", Some(b"b")), Way::Open);
    assert_eq!(holds.way(9, "one", None), Way::Open);
    assert_eq!(holds.way(9, "two", Some(b"a")), Way::Open);
    holds.passed(7);
    assert_eq!(holds.way(7, "one", Some(b"a")), held(1, false), "it is parked, and no cause a second time");
    holds.ended(1);
    assert_eq!(holds.way(10, "one", Some(b"a")), Way::Open);
    assert!(holds.is_empty());
}

#[test]
fn an_empty_key_is_a_key_and_no_key_holds_nothing_behind_it() {
    let mut holds = Holds::default();
    holds.opened(hold(1, Scope::Key, "one", Some(b"")));
    holds.opened(hold(2, Scope::Row, "one", None));
    holds.refused(5, 2);
    assert_eq!(holds.way(5, "one", None), held(2, true));
    assert_eq!(holds.way(6, "one", None), Way::Open);
    assert_eq!(holds.way(6, "one", Some(b"")), held(1, false));
}

#[test]
fn a_held_keys_rows_go_under_its_own_hold_though_the_topic_is_held_too() {
    let mut holds = Holds::default();
    holds.opened(hold(1, Scope::Key, "one", Some(b"a")));
    holds.opened(hold(2, Scope::Topic, "one", None));
    assert_eq!(holds.way(5, "one", Some(b"a")), held(1, false));
    assert_eq!(holds.way(5, "one", Some(b"b")), held(2, false));
    assert_eq!(holds.way(5, "one", None), held(2, false));
}

#[test]
fn a_key_goes_on_when_somebody_wants_it_and_its_topic_takes_rows() {
    let mut holds = Holds::default();
    holds.opened(hold(1, Scope::Key, "one", Some(b"a")));
    holds.opened(hold(2, Scope::Topic, "one", None));
    let now = Instant::now();
    assert_eq!(holds.resumable(now), None);
    holds.requested(&[(1, SystemTime::now())], now);
    assert_eq!(holds.resumable(now), None, "its topic is held");
    holds.proven(2);
    assert_eq!(holds.resumable(now), Some(2));
    holds.ended(2);
    assert_eq!(holds.resumable(now), Some(1));
    holds.stands(1, now);
    assert_eq!(holds.resumable(now), None, "it was tried a moment ago");
    holds.answered(1);
    assert_eq!(holds.resumable(now + std::time::Duration::from_secs(60)), None, "nobody wants it any more");
}

#[test]
fn a_held_topic_is_tried_with_growing_waits_and_at_once_when_somebody_asks() {
    let (mut holds, second) = (Holds::default(), std::time::Duration::from_secs(1));
    holds.opened(hold(1, Scope::Topic, "one", None));
    let now = Instant::now();
    holds.stands(1, now);
    assert!(holds.due_probes(now, |_| false).is_empty());
    assert_eq!(holds.due_probes(now + second, |_| false), [1]);
    assert!(holds.due_probes(now + second * 2, |_| false).is_empty(), "the second wait is longer");
    holds.requested(&[(1, SystemTime::now())], now + second * 2);
    assert_eq!(holds.due_probes(now + second * 2, |_| false), [1]);
    assert!(holds.due_probes(now + second * 600, |hold_id| hold_id == 1).is_empty(), "it is being tried");
    holds.proven(1);
    assert!(holds.due_probes(now + second * 600, |_| false).is_empty(), "it is to be drained");
}

/// Whoever may go on is among those that are looked at, and nobody else is.
fn those_that_are_wanted_are_known(holds: &Holds) -> bool {
    let is_wanted = |hold: &&Hold| hold.is_proven || hold.stored.resume_requested_at.is_some();
    let wanted = holds.by_id.values().filter(is_wanted).map(|hold| hold.stored.hold_id);
    holds.wanted == wanted.collect()
}

#[test]
fn among_as_many_holds_as_there_may_be_only_those_are_looked_at_that_somebody_wants_to_go_on() {
    let (mut holds, asked) = (Holds::default(), SystemTime::now());
    for hold_id in 1..=i64::try_from(HOLDS_MAX).expect("some thousands") {
        holds.opened(hold(hold_id, Scope::Key, "one", Some(&hold_id.to_be_bytes())));
    }
    let now = Instant::now();
    assert!(holds.is_full() && holds.wanted.is_empty());
    holds.requested(&[(9_000, asked), (8_000, asked)], now);
    assert_eq!((holds.wanted.len(), holds.resumable(now)), (2, Some(8_000)));
    holds.requested(&[(9_000, asked)], now);
    assert_eq!((holds.wanted.len(), holds.resumable(now)), (1, Some(9_000)), "the other one was answered");
    holds.ended(9_000);
    assert_eq!((holds.wanted.len(), holds.resumable(now)), (0, None));
}

#[test]
fn what_was_asked_for_is_found_by_whoever_takes_over() {
    let mut holds = Holds::default();
    let asked = |hold_id, scope, key| OpenHold {
        resume_requested_at: Some(SystemTime::now()),
        ..hold(hold_id, scope, "one", key)
    };
    holds.reload(vec![hold(1, Scope::Key, "one", Some(b"a")), asked(2, Scope::Key, Some(b"b"))]);
    assert_eq!(holds.resumable(Instant::now()), Some(2));
    holds.reload(vec![hold(2, Scope::Key, "one", Some(b"b")), asked(3, Scope::Row, None)]);
    assert_eq!(holds.resumable(Instant::now()), Some(3), "of the other one nobody says so any more");
    assert!(those_that_are_wanted_are_known(&holds));
}

/// What became of a parked row, as the database has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Refused,
    Waiting,
    Sent,
    Discarded,
}

#[derive(Debug, Clone, Copy)]
struct Parked {
    hold_id: i64,
    state: State,
}

/// A relay over a database and a Kafka that are a few lists: the statements of `waybill_outbox::hold` in small, and the
/// decisions themselves.
struct World {
    rows: Vec<(&'static str, Option<u8>)>,
    cursor: usize,
    holds: Holds,
    stored: BTreeMap<i64, OpenHold>,
    parked: BTreeMap<usize, Parked>,
    bad: Vec<bool>,
    down: [bool; 2],
    log: Vec<usize>,
    clock: Instant,
}

const TOPICS: [&str; 2] = ["one", "two"];

#[derive(Debug, Clone)]
enum Event {
    /// The relay works on so many rows of the window.
    Work(u8),
    /// It goes on with what it may.
    Drain,
    /// It is killed, and another one loads what is stored; what was sent last may have been sent before the kill.
    Kill,
    /// A person decides about the first refused row.
    Retry,
    Discard,
    /// The limit is raised, and later rows are refused no more.
    Mend,
    /// A topic is gone, or there again.
    Turn(bool),
}

impl World {
    fn new(rows: &[(bool, Option<u8>, bool)]) -> Self {
        Self {
            rows: rows.iter().map(|(one, key, _)| (TOPICS[usize::from(*one)], *key)).collect(),
            cursor: 0,
            holds: Holds::default(),
            stored: BTreeMap::new(),
            parked: BTreeMap::new(),
            bad: rows.iter().map(|(_, _, bad)| *bad).collect(),
            down: [false; 2],
            log: Vec::new(),
            clock: Instant::now(),
        }
    }

    fn key(&self, row: usize) -> Option<Vec<u8>> {
        self.rows[row].1.map(|key| vec![key])
    }

    fn is_down(&self, topic: &str) -> bool {
        TOPICS.iter().position(|name| *name == topic).is_some_and(|place| self.down[place])
    }

    fn open(&mut self, scope: Scope, row: usize) -> i64 {
        let key = self.key(row).filter(|_| scope == Scope::Key);
        let new = hold(1, scope, self.rows[row].0, key.as_deref());
        let known = self.stored.values().find(|known| {
            scope != Scope::Row
                && (known.scope, &known.topic, known.key_digest) == (new.scope, &new.topic, new.key_digest)
        });
        let hold_id =
            known.map_or(self.stored.keys().last().map_or(1, |last| last + 1), |known| known.hold_id);
        let new = OpenHold { hold_id, ..new };
        self.stored.insert(hold_id, new.clone());
        self.holds.opened(new);
        hold_id
    }

    fn refuse(&mut self, row: usize) -> i64 {
        let scope = if self.rows[row].1.is_some() { Scope::Key } else { Scope::Row };
        self.open(scope, row)
    }

    /// One row of the window: sent, or parked with the cursor's move.
    fn step(&mut self) {
        let row = self.cursor;
        let Some((topic, _)) = self.rows.get(row).copied() else { return };
        let (seq, key) = (i64::try_from(row).expect("small"), self.key(row));
        match self.holds.way(seq, topic, key.as_deref()) {
            Way::Held { hold_id, is_refused } => {
                assert!(self.stored.contains_key(&hold_id), "parked under a hold that has ended");
                let state = if is_refused { State::Refused } else { State::Waiting };
                self.parked.insert(row, Parked { hold_id, state });
            }
            Way::Open if self.is_down(topic) => {
                self.open(Scope::Topic, row);
                return;
            }
            Way::Open if self.bad[row] => {
                let hold_id = self.refuse(row);
                self.holds.refused(seq, hold_id);
                return;
            }
            Way::Open => self.log.push(row),
        }
        self.cursor += 1;
        self.holds.passed(seq);
    }

    fn undecided(&self, hold_id: i64) -> Vec<usize> {
        let open = |parked: &Parked| {
            parked.hold_id == hold_id && matches!(parked.state, State::Refused | State::Waiting)
        };
        self.parked.iter().filter(|(_, parked)| open(parked)).map(|(row, _)| *row).collect()
    }

    /// What may go on goes on, up to the first row that is refused.
    fn drain(&mut self) {
        // Every wait is over.
        self.clock += std::time::Duration::from_secs(3_600);
        let now = self.clock;
        for (hold_id, stored) in self.stored.clone() {
            if stored.scope == Scope::Topic && !self.is_down(&stored.topic) {
                self.holds.proven(hold_id);
            }
        }
        let Some(hold_id) = self.holds.resumable(now) else { return };
        while let Some(row) = self.undecided(hold_id).first().copied() {
            let parked = self.parked[&row];
            if parked.state == State::Refused || self.is_down(self.rows[row].0) {
                self.holds.answered(hold_id);
                self.holds.stands(hold_id, now);
                return;
            }
            if !self.bad[row] {
                self.log.push(row);
                self.parked.insert(row, Parked { state: State::Sent, ..parked });
                continue;
            }
            let is_topic = self.stored[&hold_id].scope == Scope::Topic;
            if !is_topic {
                self.parked.insert(row, Parked { state: State::Refused, ..parked });
                self.holds.answered(hold_id);
                return;
            }
            let own = self.refuse(row);
            let key = self.rows[row].1;
            for later in self.undecided(hold_id) {
                if later == row || (key.is_some() && later > row && self.rows[later].1 == key) {
                    let state = if later == row { State::Refused } else { self.parked[&later].state };
                    self.parked.insert(later, Parked { hold_id: own, state });
                }
            }
        }
        self.stored.remove(&hold_id);
        self.holds.ended(hold_id);
    }

    fn kill(&mut self) {
        let empty = |world: &Self, hold_id: i64| world.undecided(hold_id).is_empty();
        let ended: Vec<i64> = self.stored.keys().copied().filter(|hold_id| empty(self, *hold_id)).collect();
        for hold_id in ended {
            self.stored.remove(&hold_id);
        }
        self.holds = Holds::default();
        self.holds.reload(self.stored.values().cloned().collect());
        // Requests are stored, too.
        self.ask();
    }

    /// Every key's hold without a refused row was asked to go on.
    fn ask(&mut self) {
        let asked = |world: &Self, hold_id: i64| {
            world.undecided(hold_id).iter().all(|row| world.parked[row].state == State::Waiting)
        };
        let requests: Vec<(i64, SystemTime)> = self
            .stored
            .keys()
            .filter(|hold_id| asked(self, **hold_id))
            .map(|hold_id| (*hold_id, SystemTime::now()))
            .collect();
        self.holds.requested(&requests, Instant::now());
    }

    fn decide(&mut self, state: State) {
        let refused = self.parked.iter_mut().find(|(_, parked)| parked.state == State::Refused);
        if let Some((row, parked)) = refused {
            parked.state = state;
            if state == State::Waiting {
                self.bad[*row] = false;
            }
        }
        self.ask();
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::Work(rows) => (0..*rows).for_each(|_| self.step()),
            Event::Drain => self.drain(),
            Event::Kill => self.kill(),
            Event::Retry => self.decide(State::Waiting),
            Event::Discard => self.decide(State::Discarded),
            Event::Mend => {
                let ahead = self.cursor.min(self.bad.len());
                self.bad[ahead..].fill(false);
            }
            Event::Turn(one) => self.down[usize::from(*one)] ^= true,
        }
    }

    /// Everything is mended and decided, and the relay works until nothing is left.
    fn finish(&mut self) {
        self.down = [false; 2];
        self.bad.fill(false);
        for _ in 0..self.rows.len() * 4 + 8 {
            self.decide(State::Waiting);
            self.drain();
            self.step();
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (1_u8..6).prop_map(Event::Work),
        3 => Just(Event::Drain),
        1 => Just(Event::Kill),
        1 => Just(Event::Retry),
        1 => Just(Event::Discard),
        1 => Just(Event::Mend),
        1 => any::<bool>().prop_map(Event::Turn),
    ]
}

proptest! {
    #[test]
    fn whatever_is_refused_decided_and_killed_every_key_keeps_its_order_and_nothing_is_lost(
        rows in prop::collection::vec((any::<bool>(), prop::option::weighted(0.8, 0_u8..3), prop::bool::weighted(0.2)), 1..40),
        events in prop::collection::vec(event(), 0..60),
    ) {
        let mut world = World::new(&rows);
        for event in &events {
            world.happen(event);
            prop_assert!(those_that_are_wanted_are_known(&world.holds), "{event:?}: {:?}", world.holds);
        }
        world.finish();
        prop_assert!(world.stored.is_empty(), "{:?} {:?}", world.stored, world.parked);
        let mut seen = BTreeSet::new();
        let first: Vec<usize> = world.log.iter().copied().filter(|row| seen.insert(*row)).collect();
        for row in 0..rows.len() {
            let is_discarded = world.parked.get(&row).is_some_and(|parked| parked.state == State::Discarded);
            prop_assert!(seen.contains(&row) != is_discarded, "row {row} was lost, or sent though discarded");
        }
        for (one, key) in [true, false].into_iter().flat_map(|one| (0..3).map(move |key| (one, key))) {
            let of_key: Vec<usize> =
                first.iter().copied().filter(|row| (rows[*row].0, rows[*row].1) == (one, Some(key))).collect();
            prop_assert!(of_key.is_sorted(), "key {key} of {one}: {of_key:?}");
        }
    }
}
