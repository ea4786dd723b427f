//! Looks at the outbox now and then as an operator would, beside the work: what waits, whether the cursor moves, and who holds
//! back the database's cleaning. It only tells; nothing that it finds changes what the relay does.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::time::{Instant, sleep};
use waybill_outbox::status::{self, HorizonWatch, Position, Waiting};
use waybill_outbox::window::Window;
use waybill_runtime::Context;

use crate::codes;
use crate::metrics;

/// How often it looks.
const INTERVAL: Duration = Duration::from_secs(10);

/// What waits is counted every so many looks, and always while the cursor does not move.
const LOOKS_A_COUNT: u32 = 3;

/// A backlog before which the cursor has stood for so long is said.
const STANDS_STILL_AFTER: Duration = Duration::from_secs(30);

/// Whoever holds back cleaning for so long is named in the log.
const HELD_BACK_AFTER: Duration = Duration::from_secs(300);

/// The component of health that the cursor is.
pub(crate) const CURSOR: &str = "cursor";

/// Looks until it is dropped.
pub(crate) async fn observe(context: &Context, pool: &Pool, outbox: &Arc<str>) -> Infallible {
    let began = Instant::now();
    let (mut standing, mut horizon) = (Standing::default(), HorizonWatch::default());
    let (mut looks, mut is_named) = (0_u32, false);
    loop {
        sleep(INTERVAL).await;
        let now = began.elapsed();
        let is_counted = looks.is_multiple_of(LOOKS_A_COUNT);
        looks = looks.wrapping_add(1);
        // Whoever works with the database says that it does not answer.
        let Some(seen) = look(pool, &standing, is_counted).await else { continue };
        show(&seen, outbox);
        let stands = standing.note(seen.position.window, seen.waiting.map(|waiting| waiting.rows > 0), now);
        if stands >= STANDS_STILL_AFTER {
            let detail = format!("rows wait, and the cursor has not moved for {} s", stands.as_secs());
            context.health.degraded(CURSOR, codes::RELAY_CURSOR_STANDING, detail);
        } else {
            context.health.clear(CURSOR);
        }
        let held_back = horizon.note(seen.horizon.as_ref(), now);
        metrics::set(&metrics::CLEANING_HELD_BACK, outbox, held_back.as_secs_f64());
        let is_long = held_back >= HELD_BACK_AFTER;
        if let Some(by) = seen.horizon.filter(|_| is_long && !is_named) {
            let code = codes::RELAY_CLEANING_HELD_BACK;
            tracing::warn!(code, by.kind, by.name, by.xid, "cleaning is held back");
        }
        is_named = is_long;
    }
}

/// What one look saw.
struct Seen {
    position: Position,
    waiting: Option<Waiting>,
    horizon: Option<status::Horizon>,
}

async fn look(pool: &Pool, standing: &Standing, is_counted: bool) -> Option<Seen> {
    let db = pool.get().await.ok()?;
    let position = status::position(&**db).await.ok()??;
    let is_counted = is_counted || standing.is_at(&position.window);
    let waiting = if is_counted { Some(status::waiting(&**db, &position).await.ok()?) } else { None };
    let horizon = status::horizon(&**db).await.ok()?;
    Some(Seen { position, waiting, horizon })
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
fn show(seen: &Seen, outbox: &Arc<str>) {
    let Window { from, to, .. } = &seen.position.window;
    let transactions = to.xmax().0.saturating_sub(from.xmax().0);
    metrics::set(&metrics::WINDOW_TRANSACTIONS, outbox, transactions as f64);
    if let Some(waiting) = &seen.waiting {
        metrics::set(&metrics::WAITING_ROWS, outbox, waiting.rows as f64);
        metrics::set(&metrics::WAITING_BYTES, outbox, waiting.bytes_estimate.unwrap_or_default());
    }
}

/// Since when the cursor has been in one place with rows before it.
#[derive(Debug, Default)]
struct Standing {
    place: Option<Window>,
    since: Option<Duration>,
}

impl Standing {
    fn is_at(&self, window: &Window) -> bool {
        self.place.as_ref() == Some(window)
    }

    /// Notes where the cursor is, and whether rows wait if that was counted. Answers how long it has stood there with
    /// rows before it at every look.
    fn note(&mut self, window: Window, has_backlog: Option<bool>, now: Duration) -> Duration {
        if !self.is_at(&window) || has_backlog == Some(false) {
            self.since = None;
        }
        self.place = Some(window);
        if has_backlog == Some(true) {
            let since = *self.since.get_or_insert(now);
            return now.saturating_sub(since);
        }
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use waybill_outbox::window::Snapshot;

    use super::*;

    fn window(after_seq: i64) -> Window {
        let (from, to) = (Snapshot::of_nothing(), Snapshot::of_everything());
        Window { from, to, after_seq, floor_seq: 0, resend_after_seq: None }
    }

    #[test]
    fn only_a_backlog_at_every_look_before_a_cursor_that_stays_is_a_standstill() {
        let seconds = Duration::from_secs;
        let mut standing = Standing::default();
        assert_eq!(standing.note(window(1), Some(true), seconds(0)), seconds(0));
        assert_eq!(standing.note(window(1), Some(true), seconds(40)), seconds(40));
        assert_eq!(standing.note(window(2), Some(true), seconds(50)), seconds(0), "it moved");
        assert_eq!(standing.note(window(2), Some(false), seconds(90)), seconds(0), "nothing waits");
        assert_eq!(
            standing.note(window(2), Some(true), seconds(100)),
            seconds(0),
            "a new row after long idling"
        );
        assert_eq!(standing.note(window(2), Some(true), seconds(110)), seconds(10));
    }
}
