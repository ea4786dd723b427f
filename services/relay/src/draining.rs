//! Sends the rows of holds: of each in their order, by the active relay, with nothing of the window on the line.

use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};
use waybill_fault_points::{Point, reach};
use waybill_outbox::hold::{self, Refused, Scope};

use crate::active::{Active, Interrupt};
use crate::codes;
use crate::database::Database;
use crate::line::Need;
use crate::metrics;
use crate::turn::{TURN, Turn};

/// What a part of the work says about the rest of it.
enum Rest {
    /// The hold's rows are to be read again from the first undecided one.
    Again,
    /// For now nothing more can be done.
    Stands,
}

impl Active<'_> {
    /// Gives the holds their turn: this one, and then as many more as may go on before it is over. The window's turn after it is
    /// as long whether one hold took it up or a hundred did.
    pub(crate) async fn drain_holds(&mut self, database: &Database, first: i64) -> Result<(), Interrupt> {
        let mut turn = Turn::begin(Instant::now());
        let (mut next, mut drained) = (Some(first), Ok(()));
        while let Some(hold_id) = next {
            turn.takes_up(self.line.holds.take_parked(hold_id));
            drained = self.drain(database, hold_id, &mut turn).await;
            turn.lays_down();
            let now = Instant::now();
            let is_over = self.context.shutdown.is_cancelled() || turn.is_over(now);
            // A failure that nobody has dealt with is not the next hold's.
            let may_go_on = drained.is_ok() && !is_over && !self.line.absorb();
            next = self.line.holds.resumable(now).filter(|_| may_go_on);
        }
        self.timers.window_until = Instant::now() + TURN;
        self.look_again();
        drained
    }

    /// Sends what may be sent of a hold in this turn, and ends it if nothing is left. The window's rows were all passed before;
    /// none is read meanwhile, so that nothing is parked under the hold while it is looked at.
    async fn drain(&mut self, database: &Database, hold_id: i64, turn: &mut Turn) -> Result<(), Interrupt> {
        let alone_until = self.line.enter_hold();
        let drained = loop {
            match self.drain_from_start(database, hold_id, turn).await {
                Ok(Rest::Again) => {}
                Ok(Rest::Stands) => break Ok(()),
                Err(interrupt) => break Err(interrupt),
            }
        };
        self.line.leave_hold(alone_until);
        drained
    }

    async fn drain_from_start(
        &mut self,
        database: &Database,
        hold_id: i64,
        turn: &mut Turn,
    ) -> Result<Rest, Interrupt> {
        let (mut after_seq, mut is_read) = (0, false);
        loop {
            if self.line.absorb() {
                return self.drain_failed(database, hold_id).await;
            }
            turn.sent(self.settle(database, hold_id).await?);
            match self.line.need().cloned() {
                Some(Need::Row { seq, detail }) if self.line.flight().rows() == 0 => {
                    return self.refused_again(database, hold_id, seq, &detail).await;
                }
                Some(Need::Topic(topic)) => {
                    self.watch.identify(&topic);
                    let news = self.watch.news().await;
                    self.hear(database, news).await?;
                    let lane = self.line.topics.lane(&topic);
                    if !self.line.topics.is_known(lane) {
                        self.line.holds.stands(hold_id, Instant::now());
                        return Ok(Rest::Stands);
                    }
                }
                Some(Need::Row { .. }) | None => {}
            }
            let is_over = self.context.shutdown.is_cancelled() || turn.is_over(Instant::now());
            if is_over {
                // What was not handed over stays parked.
                is_read &= self.line.is_pumped();
                self.line.drop_unsent();
            } else if !is_read && self.line.has_room() {
                let limits = self.options.page;
                let page = hold::page(database.reader.client(), hold_id, after_seq, limits).await?;
                let end = page.end(limits);
                (after_seq, is_read) = (end.last_seq.unwrap_or(after_seq), !end.is_full);
                self.line.take_in(page);
            }
            self.line.pump();
            if self.line.is_clear() && (is_over || is_read) {
                return if is_read { self.end_hold(database, hold_id).await } else { Ok(Rest::Stands) };
            }
            if self.line.is_silent() {
                return self.give_up(hold_id).await;
            }
            if !self.line.has_settled() {
                tokio::select! {
                    () = self.line.wait() => {}
                    () = yield_now(), if self.line.is_ready() || (!is_over && !is_read && self.line.has_room()) => {}
                    () = sleep_until(turn.next_look(Instant::now())), if !is_over => {}
                    () = self.context.shutdown.cancelled(), if !is_over => {}
                }
            }
        }
    }

    /// Notes what was acknowledged, in steps and at the end of what is in flight, and answers how many rows that are.
    async fn settle(&mut self, database: &Database, hold_id: i64) -> Result<u64, Interrupt> {
        if !self.line.has_settled() {
            return Ok(0);
        }
        let settled = self.line.flight().settled();
        let seqs: Vec<i64> = self.line.flight().acknowledged_rows().collect();
        reach(Point::RelayAcknowledged);
        hold::settle(database.mover.client(), self.cursor.fence, hold_id, &seqs).await?;
        self.line.passed(settled.last_seq);
        metrics::count(&metrics::ROWS, &self.options.outbox, seqs.len() as u64);
        tracing::debug!(
            outbox.hold_id = hold_id,
            outbox.seq = settled.last_seq,
            rows = seqs.len(),
            "settled"
        );
        Ok(seqs.len() as u64)
    }

    /// Everything that may be sent is: the hold ends, unless a refused row stands first.
    async fn end_hold(&mut self, database: &Database, hold_id: i64) -> Result<Rest, Interrupt> {
        let (db, fence) = (database.mover.client(), self.cursor.fence);
        if hold::end(db, fence, hold_id).await? {
            tracing::info!(outbox.hold_id = hold_id, "nothing is held any more");
            self.line.holds.ended(hold_id);
            self.line.calm();
        } else {
            let hold = self.line.holds.get(hold_id);
            if let Some(asked) = hold.and_then(|hold| hold.stored.resume_requested_at) {
                hold::stand(db, fence, hold_id, asked).await?;
            }
            self.line.holds.answered(hold_id);
            self.line.holds.stands(hold_id, Instant::now());
        }
        self.show_holds();
        Ok(Rest::Stands)
    }

    /// Follows a failed delivery of a hold's row.
    async fn drain_failed(&mut self, database: &Database, hold_id: i64) -> Result<Rest, Interrupt> {
        let aftermath = self.line.start_over().await.map_err(Interrupt::Producer)?;
        self.settle(database, hold_id).await?;
        if let Some((seq, detail)) = &aftermath.row {
            return self.refused_again(database, hold_id, *seq, detail).await;
        }
        for (topic, trouble, detail) in &aftermath.topics {
            if !self.hold_topic(database, topic, *trouble, detail).await? {
                self.line.wait_after(&aftermath).await;
            }
        }
        if aftermath.topics.is_empty() {
            self.line.wait_after(&aftermath).await;
            if aftermath.may_be_refused() {
                return Ok(Rest::Again);
            }
        }
        self.line.holds.stands(hold_id, Instant::now());
        Ok(Rest::Stands)
    }

    /// A row of the hold is refused once more. In a topic's hold it gets one of its own, and the rest goes on.
    async fn refused_again(
        &mut self,
        database: &Database,
        hold_id: i64,
        seq: i64,
        detail: &str,
    ) -> Result<Rest, Interrupt> {
        let (db, fence) = (database.mover.client(), self.cursor.fence);
        let refused = Refused { seq, code: codes::RELAY_ROW_REFUSED, detail };
        let Some(hold) = self.line.holds.get(hold_id).map(|hold| hold.stored.clone()) else {
            return Ok(Rest::Stands);
        };
        self.line.drop_unsent();
        self.line.met();
        self.line.calm();
        tracing::warn!(
            outbox.seq = seq,
            outbox.hold_id = hold_id,
            code = refused.code,
            detail,
            "refused again"
        );
        match hold.scope {
            Scope::Key | Scope::Row => {
                hold::refuse(db, fence, hold_id, &refused, hold.resume_requested_at).await?;
                self.line.holds.answered(hold_id);
                self.line.holds.explained(hold_id, refused.code, detail);
                self.show_holds();
                Ok(Rest::Stands)
            }
            Scope::Topic if self.line.holds.is_full() => {
                self.line.fail(codes::RELAY_HOLDS_FULL, format!("row {seq} of the outbox: {detail}"));
                self.line.holds.stands(hold_id, Instant::now());
                Ok(Rest::Stands)
            }
            Scope::Topic => {
                let own = hold::open_row(db, fence, &refused).await?;
                hold::transfer(db, fence, hold_id, own.hold_id, &refused).await?;
                self.line.holds.opened(own);
                self.show_holds();
                Ok(Rest::Again)
            }
        }
    }

    /// Nothing was acknowledged for long. Nobody can say whether only this topic stands still, so the window goes on and
    /// shows it.
    async fn give_up(&mut self, hold_id: i64) -> Result<Rest, Interrupt> {
        self.line.start_over().await.map_err(Interrupt::Producer)?;
        self.line.holds.stands(hold_id, Instant::now());
        Ok(Rest::Stands)
    }
}
