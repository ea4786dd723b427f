//! What the active relay does about rows that Kafka will not have: it holds them, tries again, and lets them go.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use waybill_outbox::hold::{self, OpenHold, Refused, Scope};
use waybill_outbox::window::Reading;

use crate::active::{Active, Interrupt};
use crate::codes;
use crate::database::Database;
use crate::delivery::Trouble;
use crate::error::DatabaseError;
use crate::holds::HOLDS_MAX;
use crate::line::{Aftermath, Need};
use crate::metrics;
use crate::topics::Identified;
use crate::watch::{News, Probed};

/// How often requests are looked for while something is held, and stalled topics at any time.
pub(crate) const TICK: Duration = Duration::from_millis(500);

/// How often Kafka is asked whether the topics are still the same.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// How often the parked rows are counted while something is held.
const COUNT_INTERVAL: Duration = Duration::from_secs(10);

/// The wait before Kafka is asked again for a topic about which it did not answer.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The component of health that parked rows are.
const PARKED: &str = "parked";

/// So many held topics are named one by one.
const TOPICS_NAMED_MAX: usize = 20;

/// When to look next.
pub(crate) struct Timers {
    pub(crate) tick_at: Instant,
    check_at: Instant,
    count_at: Instant,
    ask_at: Instant,
    /// Until then the window has its turn, though a hold could go on.
    pub(crate) window_until: Instant,
    shown: BTreeMap<String, String>,
}

impl Timers {
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        Self {
            tick_at: now,
            check_at: now + CHECK_INTERVAL,
            count_at: now,
            ask_at: now,
            window_until: now,
            shown: BTreeMap::new(),
        }
    }
}

impl Active<'_> {
    /// Takes what is stored for the truth. Rows of the window are read again if any of them may be on the line under a hold
    /// that no longer stands.
    pub(crate) async fn load_holds(&mut self, database: &Database) -> Result<(), DatabaseError> {
        let db = database.mover.client();
        let mut stored = Vec::new();
        let most = i64::try_from(HOLDS_MAX).unwrap_or(i64::MAX);
        for hold in hold::load(db, most).await? {
            // It was opened and nothing parked, or its last row was decided: nothing waits under it.
            if !hold.is_empty || !hold::end(db, self.cursor.fence, hold.hold_id).await? {
                stored.push(hold);
            }
        }
        if !stored.is_empty() || !self.line.holds.is_empty() {
            self.line.forget();
            self.line.passed(i64::MAX);
            self.reading = Reading::of(&self.cursor.window);
        }
        self.line.holds.reload(stored);
        self.show_holds();
        Ok(())
    }

    /// Does what has to be done before the next row.
    pub(crate) async fn meet_need(&mut self, database: &Database) -> Result<(), Interrupt> {
        match self.line.need().cloned() {
            None => {}
            Some(Need::Topic(topic)) if self.timers.ask_at <= Instant::now() => self.watch.identify(&topic),
            Some(Need::Topic(_)) => {}
            Some(Need::Row { seq, detail }) => {
                if !self.hold_row(database, seq, &detail).await? {
                    self.line.fail(codes::RELAY_HOLDS_FULL, format!("row {seq} of the outbox: {detail}"));
                    self.line.pause().await;
                }
                self.line.met();
            }
        }
        Ok(())
    }

    /// Holds what a failure was about. If that was something, the rest goes on; if not, it waits.
    pub(crate) async fn hold_what_failed(
        &mut self,
        database: &Database,
        aftermath: &Aftermath,
    ) -> Result<(), Interrupt> {
        let mut is_held = !aftermath.topics.is_empty() || aftermath.row.is_some();
        for (topic, trouble, detail) in &aftermath.topics {
            is_held &= self.hold_topic(database, topic, *trouble, detail).await?;
        }
        if let Some((seq, detail)) = &aftermath.row {
            is_held &= self.hold_row(database, *seq, detail).await?;
        }
        if is_held {
            self.line.calm();
        } else {
            self.line.wait_after(aftermath).await;
        }
        Ok(())
    }

    /// Holds a refused row, and with it its key. Answers false when no more can be held.
    pub(crate) async fn hold_row(
        &mut self,
        database: &Database,
        seq: i64,
        detail: &str,
    ) -> Result<bool, DatabaseError> {
        if self.line.holds.is_full() {
            return Ok(false);
        }
        let refused = Refused { seq, code: codes::RELAY_ROW_REFUSED, detail };
        let hold = hold::open_row(database.mover.client(), self.cursor.fence, &refused).await?;
        tracing::warn!(
            outbox.seq = seq,
            outbox.hold_id = hold.hold_id,
            topic = hold.topic,
            code = codes::RELAY_ROW_REFUSED,
            detail,
            "a row is held"
        );
        let hold_id = hold.hold_id;
        self.line.holds.opened(hold);
        self.line.holds.refused(seq, hold_id);
        self.line.calm();
        self.show_holds();
        Ok(true)
    }

    /// Holds a topic. Answers false when no more can be held.
    pub(crate) async fn hold_topic(
        &mut self,
        database: &Database,
        topic: &str,
        trouble: Trouble,
        detail: &str,
    ) -> Result<bool, DatabaseError> {
        if self.line.holds.is_full() {
            return Ok(false);
        }
        let (db, code) = (database.mover.client(), trouble.code());
        let hold_id = hold::open_topic(db, self.cursor.fence, topic, code, detail).await?;
        tracing::warn!(topic, outbox.hold_id = hold_id, code, detail, "a topic is held");
        self.line.holds.opened(OpenHold {
            hold_id,
            scope: Scope::Topic,
            topic: topic.to_owned(),
            key_digest: None,
            code: code.to_owned(),
            detail: detail.to_owned(),
            resume_requested_at: None,
            is_empty: true,
        });
        self.line.holds.stands(hold_id, Instant::now());
        let lane = self.line.topics.lane(topic);
        self.line.topics.forget(lane);
        self.show_holds();
        Ok(true)
    }

    /// Looks for what nobody announces.
    pub(crate) async fn tick(&mut self, database: &Database) -> Result<(), Interrupt> {
        let now = Instant::now();
        self.timers.tick_at = now + TICK;
        self.line.find_stalled();
        if self.timers.check_at <= now {
            self.timers.check_at = now + CHECK_INTERVAL;
            self.watch.check(self.line.topics.known());
        }
        if self.line.holds.is_empty() {
            return Ok(());
        }
        let db = database.reader.client();
        let requests = hold::requested(db).await?;
        self.line.holds.requested(&requests, now);
        for hold_id in self.line.holds.due_probes(now, |hold_id| self.watch.is_probing(hold_id)) {
            if let Some(hold) = self.line.holds.get(hold_id) {
                self.watch.probe(hold_id, &hold.stored.topic);
            }
        }
        if self.timers.count_at <= now {
            self.timers.count_at = now + COUNT_INTERVAL;
            let (refused, waiting) = hold::count_parked(db).await?;
            measure_rows(&self.options.outbox, refused, waiting);
        }
        Ok(())
    }

    /// Follows an answer.
    pub(crate) async fn hear(&mut self, database: &Database, news: News) -> Result<(), Interrupt> {
        match news {
            News::Identified { topic, identified } => {
                let is_needed = self.line.need() == Some(&Need::Topic(topic.clone()));
                match identified {
                    Identified::Is(found) => self.line.topics.found(&topic, found.partitions),
                    Identified::Held { trouble, detail } => {
                        if self.hold_topic(database, &topic, trouble, &detail).await? {
                            self.line.calm();
                        } else {
                            self.timers.ask_at = Instant::now() + ASK_AGAIN_AFTER;
                            self.line.fail(codes::RELAY_HOLDS_FULL, format!("topic {topic}: {detail}"));
                        }
                    }
                    Identified::Unclear { detail } => {
                        self.timers.ask_at = Instant::now() + ASK_AGAIN_AFTER;
                        let detail = format!("Kafka does not say whether topic {topic} is there; {detail}");
                        self.line.fail(codes::RELAY_DELIVERY_FAILING, detail);
                    }
                }
                if is_needed {
                    self.line.met();
                }
            }
            News::Checked { topics } => {
                for (topic, identified) in topics {
                    let lane = self.line.topics.lane(&topic);
                    match identified {
                        Identified::Held { trouble, detail } if self.line.topics.is_known(lane) => {
                            self.line.condemn(lane, trouble, detail);
                        }
                        // Its keys go to other partitions from now on, which the producer has to learn of.
                        Identified::Is(found) if self.line.topics.has_grown(lane, found.partitions) => {
                            self.line.doubt(lane);
                        }
                        Identified::Is(_) | Identified::Held { .. } | Identified::Unclear { .. } => {}
                    }
                }
            }
            News::Probed { hold_id, probed } => self.probed(database, hold_id, probed).await?,
        }
        Ok(())
    }

    async fn probed(
        &mut self,
        database: &Database,
        hold_id: i64,
        probed: Probed,
    ) -> Result<(), DatabaseError> {
        let (db, fence) = (database.mover.client(), self.cursor.fence);
        let Some(hold) = self.line.holds.get(hold_id).map(|hold| hold.stored.clone()) else { return Ok(()) };
        match probed {
            Probed::Ready => {
                self.line.holds.proven(hold_id);
                return Ok(());
            }
            Probed::Held { trouble, detail } => {
                if hold.code != trouble.code() || hold.detail != detail {
                    hold::explain(db, fence, hold_id, trouble.code(), &detail).await?;
                    self.line.holds.explained(hold_id, trouble.code(), &detail);
                    self.show_holds();
                }
            }
            Probed::Unclear { detail } => {
                tracing::debug!(
                    outbox.hold_id = hold_id,
                    detail,
                    "nobody knows whether the topic takes rows"
                );
            }
        }
        if let Some(asked) = hold.resume_requested_at {
            hold::stand(db, fence, hold_id, asked).await?;
        }
        Ok(())
    }

    /// The hold with which the turn of the holds begins now, unless it is the window's turn.
    pub(crate) fn next_hold(&self) -> Option<i64> {
        let now = Instant::now();
        let is_window_idle = self.is_idle() && self.line.is_clear();
        (is_window_idle || self.timers.window_until <= now).then(|| self.line.holds.resumable(now)).flatten()
    }

    /// Says in health and metrics what is held.
    pub(crate) fn show_holds(&mut self) {
        let mut counts = BTreeMap::from([
            (Scope::Row.as_str(), 0_u32),
            (Scope::Key.as_str(), 0),
            (Scope::Topic.as_str(), 0),
        ]);
        let mut shown = BTreeMap::new();
        let mut first_refused = None;
        for hold in self.line.holds.iter() {
            *counts.entry(hold.scope.as_str()).or_default() += 1;
            match hold.scope {
                Scope::Topic if shown.len() < TOPICS_NAMED_MAX => {
                    let detail = format!("its rows wait under hold {}: {}", hold.hold_id, hold.detail);
                    self.context.health.degraded(&format!("topic {}", hold.topic), &hold.code, detail);
                    shown.insert(format!("topic {}", hold.topic), hold.code.clone());
                }
                Scope::Topic => {}
                Scope::Row | Scope::Key => {
                    first_refused.get_or_insert((hold.hold_id, hold.topic.clone(), hold.detail.clone()));
                }
            }
        }
        let refused = counts[Scope::Row.as_str()] + counts[Scope::Key.as_str()];
        if let Some((hold_id, topic, detail)) = first_refused {
            let detail = format!(
                "{refused} rows are refused, {} of them with a key that waits; the first is under hold {hold_id}, for topic {topic}: {detail}",
                counts[Scope::Key.as_str()]
            );
            self.context.health.degraded(PARKED, codes::RELAY_ROW_PARKED, detail);
            shown.insert(PARKED.to_owned(), codes::RELAY_ROW_PARKED.to_owned());
        }
        for gone in self.timers.shown.keys().filter(|component| !shown.contains_key(*component)) {
            self.context.health.clear(gone);
        }
        for (scope, count) in counts {
            metrics::set_of(&metrics::HOLDS, &self.options.outbox, ("scope", scope), f64::from(count));
        }
        if self.line.holds.is_empty() {
            measure_rows(&self.options.outbox, 0, 0);
        }
        self.timers.shown = shown;
        self.timers.count_at = Instant::now();
    }

    /// Takes back what was said: another relay says it from now on.
    pub(crate) fn hide_holds(&mut self) {
        for component in std::mem::take(&mut self.timers.shown).into_keys() {
            self.context.health.clear(&component);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
fn measure_rows(outbox: &Arc<str>, refused: i64, waiting: i64) {
    metrics::set_of(&metrics::PARKED_ROWS, outbox, ("state", "refused"), refused as f64);
    metrics::set_of(&metrics::PARKED_ROWS, outbox, ("state", "waiting"), waiting as f64);
}
