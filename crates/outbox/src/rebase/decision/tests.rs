use super::*;
use crate::window::ParseSnapshotError;

fn identity(system_identifier: &str, timeline: i32) -> Identity {
    Identity { system_identifier: system_identifier.to_owned(), timeline }
}

/// A window that was half sent on server 1, whose next transaction was 100, and what another one found of it.
fn found(by: Identity, next_xid: u64) -> Result<Found, ParseSnapshotError> {
    Ok(Found {
        known: Some(identity("1", 1)),
        identity: by,
        window: Window {
            from: "80:80:".parse()?,
            to: "99:99:".parse()?,
            after_seq: 40,
            floor_seq: 0,
            resend_after_seq: None,
        },
        next_xid: Xid(next_xid),
        last_foreign_seq: None,
        first_own_seq: None,
    })
}

#[test]
fn on_the_server_that_it_is_of_a_cursor_is_left_alone_unless_files_were_put_back()
-> Result<(), ParseSnapshotError> {
    let found = found(identity("1", 1), 100)?;
    assert_eq!(decide(&found, Wanted::default()), Err(Refusal::NotNeeded));
    let put_back = Wanted { same_server: true, ..Wanted::default() };
    assert_eq!(decide(&found, put_back), Ok((Way::Continue, found.window.clone())));
    Ok(())
}

#[test]
fn a_promoted_copy_counts_on_and_its_window_holds() -> Result<(), ParseSnapshotError> {
    let found = found(identity("1", 2), 100)?;
    assert_eq!(decide(&found, Wanted::default()), Ok((Way::Continue, found.window.clone())));
    Ok(())
}

#[test]
fn a_window_of_transactions_that_the_server_has_not_given_out_does_not_hold() -> Result<(), ParseSnapshotError>
{
    let found = found(identity("1", 2), 98)?;
    let (way, window) = decide(&found, Wanted::default()).expect("a way");
    assert_eq!(way, Way::Resend(Grounds::OtherTransactions));
    assert_eq!((window.floor_seq, window.resend_after_seq), (0, Some(0)), "no row is known to be read in");
    Ok(())
}

#[test]
fn rows_that_were_read_in_are_sent_again_as_far_as_the_window_had_not_passed_them()
-> Result<(), ParseSnapshotError> {
    let mut found = found(identity("2", 1), 7)?;
    found.last_foreign_seq = Some(55);
    found.first_own_seq = Some(56);
    let (way, window) = decide(&found, Wanted::default()).expect("a way");
    assert_eq!(way, Way::Resend(Grounds::Dump));
    assert_eq!((&window.from, &window.to, window.after_seq), (&found.window.from, &found.window.to, 40));
    assert_eq!((window.floor_seq, window.resend_after_seq), (55, Some(0)));

    found.window.from = found.window.to.clone();
    found.window.after_seq = 0;
    let (_, window) = decide(&found, Wanted::default()).expect("a way");
    assert_eq!((&window.from, window.to), (&found.window.from, Snapshot::of_everything()), "it was drained");
    Ok(())
}

#[test]
fn what_an_earlier_restore_left_behind_is_not_sent_a_third_time() -> Result<(), ParseSnapshotError> {
    let mut found = found(identity("3", 1), 7)?;
    found.window.floor_seq = 20;
    found.window.after_seq = 20;
    found.window.from = found.window.to.clone();
    found.last_foreign_seq = Some(55);
    let (_, window) = decide(&found, Wanted::default()).expect("a way");
    assert_eq!((window.after_seq, window.floor_seq, window.resend_after_seq), (20, 55, Some(20)));
    Ok(())
}

#[test]
fn a_restore_within_a_restore_sends_everything() -> Result<(), ParseSnapshotError> {
    let mut found = found(identity("3", 1), 7)?;
    found.window.resend_after_seq = Some(0);
    found.window.floor_seq = 50;
    found.last_foreign_seq = Some(55);
    let (way, window) = decide(&found, Wanted::default()).expect("a way");
    assert_eq!(way, Way::Everything(Grounds::TwoRestores));
    assert_eq!((window.from, window.after_seq), (Snapshot::of_nothing(), 0));
    assert_eq!((window.floor_seq, window.resend_after_seq), (55, Some(0)));
    Ok(())
}

#[test]
fn without_a_last_row_of_before_only_everything_is_safe() -> Result<(), ParseSnapshotError> {
    let mut found = found(identity("2", 1), 7)?;
    found.last_foreign_seq = Some(55);
    found.first_own_seq = Some(3);
    assert_eq!(decide(&found, Wanted::default()), Err(Refusal::Interleaved { own_seq: 3, foreign_seq: 55 }));
    let all = Wanted { all: true, ..Wanted::default() };
    assert!(matches!(decide(&found, all), Ok((Way::Everything(Grounds::Asked), _))));
    Ok(())
}
