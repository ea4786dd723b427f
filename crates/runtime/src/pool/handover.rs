//! The rows of a COPY on their way from the connection, which takes them off its stream, to whoever reads them.
//!
//! Two tasks share it: one puts a piece down, the other takes it. There is room for one piece, so whoever reads slowly
//! holds the server up, and nothing is ever queued.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::BytesMut;

/// How many bytes of rows make a piece; only the last one before another message is smaller.
pub(super) const PIECE_BYTES: usize = 256 * 1024;

/// Where both sides meet; its clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Handover(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Somebody reads: rows are put down here instead of being left to the driver. Asked about each row.
    is_read: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// A COPY was asked for and has not ended.
    is_under_way: bool,
    piece: Option<BytesMut>,
    /// How many rows the server says the latest COPY had.
    rows_copied: Option<u64>,
    reader: Option<Waker>,
    connection: Option<Waker>,
}

impl Handover {
    /// A COPY is about to be asked for, and its rows will be taken.
    pub(super) fn begin(&self) {
        *self.state() = State { is_under_way: true, ..State::default() };
        self.0.is_read.store(true, Ordering::Release);
    }

    /// The COPY has ended: the server does nothing for it any more.
    pub(super) fn end(&self) {
        self.state().is_under_way = false;
    }

    /// Nobody takes rows any more.
    pub(super) fn leave(&self) {
        self.0.is_read.store(false, Ordering::Release);
        let mut state = self.state();
        state.piece = None;
        wake(&mut state.connection);
    }

    pub(super) fn is_read(&self) -> bool {
        self.0.is_read.load(Ordering::Acquire)
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.state().is_under_way
    }

    pub(super) fn rows_copied(&self) -> Option<u64> {
        self.state().rows_copied
    }

    pub(super) fn set_rows_copied(&self, rows: u64) {
        self.state().rows_copied = Some(rows);
    }

    /// Puts the piece down, once there is room, and leaves an empty one. What nobody will take is dropped.
    pub(super) fn poll_put(&self, cx: &Context<'_>, piece: &mut BytesMut) -> Poll<()> {
        let mut state = self.state();
        if !self.is_read() {
            piece.clear();
            return Poll::Ready(());
        }
        if state.piece.is_some() {
            state.connection = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.piece = Some(std::mem::take(piece));
        wake(&mut state.reader);
        Poll::Ready(())
    }

    /// Takes a piece, if there is one. Otherwise the task is woken when there is.
    pub(super) fn take(&self, cx: &Context<'_>) -> Option<BytesMut> {
        let mut state = self.state();
        let piece = state.piece.take();
        if piece.is_some() {
            wake(&mut state.connection);
        } else {
            state.reader = Some(cx.waker().clone());
        }
        piece
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is whole before anything could panic.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cx() -> Context<'static> {
        Context::from_waker(Waker::noop())
    }

    #[test]
    fn there_is_room_for_one_piece_and_what_nobody_takes_holds_nobody_up() {
        let handover = Handover::default();
        handover.begin();
        let [mut first, mut second] = [BytesMut::from(&b"1"[..]), BytesMut::from(&b"2"[..])];
        assert!(handover.poll_put(&cx(), &mut first).is_ready() && first.is_empty());
        assert!(handover.poll_put(&cx(), &mut second).is_pending() && !second.is_empty());
        assert_eq!(handover.take(&cx()).as_deref(), Some(&b"1"[..]));
        assert_eq!(handover.take(&cx()), None);
        assert!(handover.poll_put(&cx(), &mut second).is_ready());
        let mut third = BytesMut::from(&b"3"[..]);
        assert!(handover.poll_put(&cx(), &mut third).is_pending());
        handover.leave();
        assert!(handover.poll_put(&cx(), &mut third).is_ready() && third.is_empty());
        assert_eq!(handover.take(&cx()), None, "what was there is gone with its reader");
    }
}
