//! Rows that wait until their partition has acknowledged the row before them. They count as in flight.

use std::collections::{HashMap, VecDeque};

use waybill_outbox::window::Row;

use crate::topics::Target;

/// All of them, for each partition in their order.
#[derive(Default)]
pub(super) struct Behind(HashMap<Target, VecDeque<Row>>);

impl Behind {
    /// Whether rows wait there: then later ones wait behind them.
    pub(super) fn has(&self, target: Target) -> bool {
        !self.0.is_empty() && self.0.contains_key(&target)
    }

    /// Lets a row wait.
    pub(super) fn push(&mut self, target: Target, row: Row) {
        self.0.entry(target).or_default().push_back(row);
    }

    /// A partition where rows wait and one may go.
    pub(super) fn find(&self, may_send: impl Fn(Target) -> bool) -> Option<Target> {
        self.0.keys().copied().find(|target| may_send(*target))
    }

    /// The first row that waits there.
    pub(super) fn first(&self, target: Target) -> Option<&Row> {
        self.0.get(&target)?.front()
    }

    /// Lets it go.
    pub(super) fn pop(&mut self, target: Target) {
        let Some(rows) = self.0.get_mut(&target) else { return };
        rows.pop_front();
        if rows.is_empty() {
            self.0.remove(&target);
        }
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
