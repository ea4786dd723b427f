use proptest::prelude::*;

use super::*;

fn flight(seqs: &[i64]) -> Flight {
    let mut flight = Flight::default();
    seqs.iter().for_each(|seq| flight.sent(*seq, 10, 0));
    flight
}

fn is_acknowledged(flight: &mut Flight, seq: i64) -> bool {
    flight.acknowledged(seq).is_some()
}

fn held(seq: i64) -> Held {
    Held { seq, hold_id: 1, is_refused: false }
}

#[test]
fn a_held_row_is_passed_only_with_the_move_that_parks_it() {
    let mut flight = flight(&[1]);
    flight.held(held(2), 10);
    flight.sent(3, 10, 0);
    assert_eq!(flight.settled(), Settled::default(), "it waits for the row in front of it");
    flight.acknowledged(1);
    assert_eq!(flight.settled(), Settled { last_seq: 2, events: 1, held: 1 });
    assert_eq!(next_move(&flight, true, 3), Move::Stay, "a step is three rows, and one is in flight");
    assert_eq!(next_move(&flight, true, 2), Move::Park);
    flight.acknowledged(3);
    assert_eq!(next_move(&flight, true, 100), Move::Park, "before the window ends");
    let (settled, parked) = flight.parking();
    assert_eq!((settled, parked.as_slice()), (Settled { last_seq: 3, events: 2, held: 1 }, &[held(2)][..]));
    flight.passed(settled.last_seq);
    assert_eq!(next_move(&flight, true, 100), Move::Drain(None));
}

#[test]
fn one_move_parks_no_more_rows_than_it_may_copy() {
    let mut flight = Flight::default();
    let rows = i64::try_from(PARKED_ROWS_A_MOVE_MAX).expect("a small number") + 5;
    (1..=rows).for_each(|seq| flight.held(held(seq), 10));
    let (settled, parked) = flight.parking();
    assert_eq!((settled.last_seq, parked.len()), (rows - 5, PARKED_ROWS_A_MOVE_MAX));
    flight.passed(settled.last_seq);
    assert_eq!(flight.settled(), Settled { last_seq: rows, events: 0, held: 5 });
}

#[test]
fn an_acknowledgement_gives_back_the_lane_and_a_held_row_has_none_to_come() {
    let mut flight = Flight::default();
    flight.sent(1, 10, 4);
    flight.held(held(2), 10);
    assert_eq!((flight.acknowledged(1), flight.acknowledged(2)), (Some(4), None));
}

#[test]
fn an_acknowledgement_behind_a_gap_moves_nothing() {
    let mut flight = flight(&[3, 5, 9]);
    assert!(is_acknowledged(&mut flight, 5));
    assert!(is_acknowledged(&mut flight, 9));
    assert_eq!(flight.settled(), Settled::default());
    assert_eq!(flight.lowest_seq(), Some(3));
    assert!(is_acknowledged(&mut flight, 3));
    assert_eq!(flight.settled(), Settled { last_seq: 9, events: 3, held: 0 });
    assert_eq!((flight.rows(), flight.bytes(), flight.unacknowledged()), (0, 0, 0));
}

#[test]
fn a_report_that_comes_twice_or_for_a_stranger_counts_for_nothing() {
    let mut flight = flight(&[3, 5]);
    assert!(is_acknowledged(&mut flight, 5));
    assert!(!is_acknowledged(&mut flight, 5));
    assert!(!is_acknowledged(&mut flight, 4));
    assert_eq!(flight.unacknowledged(), 1);
}

#[test]
fn abandoning_keeps_what_was_settled() {
    let mut flight = flight(&[1, 2, 3]);
    flight.acknowledged(1);
    flight.acknowledged(3);
    flight.abandon();
    assert_eq!(flight.settled(), Settled { last_seq: 1, events: 1, held: 0 });
    assert!(!is_acknowledged(&mut flight, 2), "a late report of an abandoned row");
}

#[test]
fn what_settles_while_the_cursor_moves_is_for_its_next_move() {
    let mut flight = flight(&[1, 2, 3]);
    flight.acknowledged(1);
    let under_way = flight.settled().last_seq;
    flight.acknowledged(2);
    flight.passed(under_way);
    assert_eq!(flight.settled(), Settled { last_seq: 2, events: 1, held: 0 });
}

#[test]
fn a_window_without_rows_is_drained_without_a_batch() {
    assert_eq!(next_move(&Flight::default(), true, 100), Move::Drain(None));
    assert_eq!(next_move(&Flight::default(), false, 100), Move::Stay);
}

#[test]
fn the_cursor_moves_in_steps_and_at_the_end_of_what_is_in_flight() {
    let mut flight = flight(&[1, 2, 3, 4]);
    flight.acknowledged(1);
    assert_eq!(next_move(&flight, false, 2), Move::Stay);
    flight.acknowledged(2);
    assert_eq!(next_move(&flight, false, 2), Move::Advance(Batch { last_seq: 2, events: 2 }));
    flight.passed(2);
    flight.acknowledged(3);
    flight.acknowledged(4);
    assert_eq!(next_move(&flight, true, 100), Move::Drain(Some(Batch { last_seq: 4, events: 2 })));
    assert_eq!(next_move(&flight, false, 100), Move::Advance(Batch { last_seq: 4, events: 2 }));
}

proptest! {
    #[test]
    fn the_cursor_never_passes_an_unacknowledged_row(
        gaps in prop::collection::vec(1i64..5, 1..80),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..120),
    ) {
        let seqs: Vec<i64> = gaps.iter().scan(0, |seq, gap| { *seq += gap; Some(*seq) }).collect();
        let mut flight = flight(&seqs);
        let mut acknowledged = std::collections::BTreeSet::new();
        let mut passed = 0;
        for index in order {
            let seq = *index.get(&seqs);
            prop_assert_eq!(flight.acknowledged(seq).is_some(), acknowledged.insert(seq));
            let settled = flight.settled();
            let expected = seqs.iter().take_while(|seq| acknowledged.contains(seq)).count();
            prop_assert_eq!(passed + usize::try_from(settled.events)?, expected);
            prop_assert_eq!(settled.batch().map(|batch| batch.last_seq),
                (settled.events > 0).then(|| seqs[expected - 1]));
            prop_assert_eq!(flight.unacknowledged(), seqs.len() - acknowledged.len());
            if settled.events >= 7 {
                passed += usize::try_from(settled.events)?;
                flight.passed(settled.last_seq);
            }
        }
    }
}
