//! What a rebase does, decided from what was found.

use crate::window::{Identity, Snapshot, Window, Xid};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The server that the cursor is of; `None` before the first relay.
    pub known: Option<Identity>,
    /// The server that answers.
    pub identity: Identity,
    /// The window as it is stored.
    pub window: Window,
    /// The next transaction id of the server that answers.
    pub next_xid: Xid,
    /// The last row that was surely read in and not written here: its xid was not given out yet, or its inserter wrote
    /// rows of several transactions.
    pub last_foreign_seq: Option<i64>,
    /// The first row that was surely not read in: its inserter is the transaction that it names.
    pub first_own_seq: Option<i64>,
}

/// What the operator wants beyond the usual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Rebase although this is the server that the cursor is of: files of it were put back.
    pub same_server: bool,
    /// Send everything that the outbox still holds.
    pub all: bool,
    /// Nothing will be kept: writers need not wait.
    pub only_looks: bool,
}

/// How the relay goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The window holds: this server counts on from the transactions that it names.
    Continue,
    /// Rows of before are sent again as far as the window had not passed them, and the window of this server begins anew.
    Resend(Grounds),
    /// Everything is sent again.
    Everything(Grounds),
}

impl Way {
    /// As a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Resend(_) => "resend",
            Self::Everything(_) => "everything",
        }
    }

    /// Why the stored window does not hold, if it does not.
    pub const fn grounds(self) -> Option<Grounds> {
        match self {
            Self::Continue => None,
            Self::Resend(grounds) | Self::Everything(grounds) => Some(grounds),
        }
    }
}

impl Grounds {
    /// As words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dump => "rows were read in from a dump",
            Self::OtherTransactions => "the window names transactions that this server has not given out",
            Self::Asked => "it was asked for",
            Self::TwoRestores => "the rebase of an earlier restore had not ended",
        }
    }
}

/// Why the stored window does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grounds {
    /// Rows were read in.
    Dump,
    /// It names transactions that this server has not given out, or another server's.
    OtherTransactions,
    /// It was asked for.
    Asked,
    /// A rebase of before had not ended: the window was one of rows of two histories.
    TwoRestores,
}

/// Why a rebase is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The cursor is of this server.
    #[error("the cursor is of the server that answers")]
    NotNeeded,
    /// New rows stand before old ones, so that the old ones have no last row.
    #[error(
        "row {own_seq} was written here and stands before row {foreign_seq}, which was read in: the sequence was not restored"
    )]
    Interleaved {
        /// The first row that was written here.
        own_seq: i64,
        /// The last one that was read in.
        foreign_seq: i64,
    },
}

/// Decides how the relay goes on, and from which window.
///
/// # Errors
/// [`Refusal`].
pub fn decide(found: &Found, wanted: Wanted) -> Result<(Way, Window), Refusal> {
    let Found { known, identity, window, .. } = found;
    if known.as_ref() == Some(identity) && !wanted.same_server {
        return Err(Refusal::NotNeeded);
    }
    if wanted.all {
        return Ok((Way::Everything(Grounds::Asked), everything(found)));
    }
    let Some(grounds) = grounds(found) else { return Ok((Way::Continue, window.clone())) };
    if let (Some(own_seq), Some(foreign_seq)) = (found.first_own_seq, found.last_foreign_seq)
        && own_seq < foreign_seq
    {
        return Err(Refusal::Interleaved { own_seq, foreign_seq });
    }
    if window.is_resend() {
        return Ok((Way::Everything(Grounds::TwoRestores), everything(found)));
    }
    let floor_seq = found.last_foreign_seq.unwrap_or(0).max(window.floor_seq);
    let mut resent = Window { floor_seq, resend_after_seq: Some(window.floor_seq), ..window.clone() };
    if window.is_drained() {
        resent.to = Snapshot::of_everything();
        resent.after_seq = window.floor_seq;
    }
    Ok((Way::Resend(grounds), resent))
}

/// Why the window does not hold, if it does not.
fn grounds(found: &Found) -> Option<Grounds> {
    let Found { known, identity, window, .. } = found;
    if found.last_foreign_seq.is_some_and(|seq| seq > window.floor_seq) {
        return Some(Grounds::Dump);
    }
    let other_server =
        known.as_ref().is_some_and(|known| known.system_identifier != identity.system_identifier);
    // Once what is sent again is behind it, the window is of the server that sent it; before, it may be of everything.
    let is_ahead = !window.is_resend() && window.to.xmax() > found.next_xid;
    (other_server || is_ahead).then_some(Grounds::OtherTransactions)
}

/// Everything that is stored: first the rows of before, then this server's own.
fn everything(found: &Found) -> Window {
    let floor_seq = found.last_foreign_seq.unwrap_or(0).max(found.window.floor_seq);
    Window {
        from: Snapshot::of_nothing(),
        to: Snapshot::of_everything(),
        after_seq: 0,
        floor_seq,
        resend_after_seq: Some(0),
    }
}

#[cfg(test)]
mod tests;
