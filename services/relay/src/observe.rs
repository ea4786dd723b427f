//! Looks at the outbox now and then as an operator would, beside the work: what waits, whether the cursor moves, and who
//! holds back the database's cleaning. It only tells; nothing that it finds changes what the relay does.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::time::{Instant, sleep, timeout};
use waybill_outbox::status::{self, Horizon, HorizonWatch, Position, Waiting};
use waybill_outbox::window::Window;
use waybill_runtime::Context;

use crate::codes;
use crate::metrics;
use crate::options::Options;

/// How long one look may take. A connection that carries nothing any more must not end all looking.
const LOOK_MAX: Duration = Duration::from_secs(10);

/// What waits is counted every so many looks, and always while the cursor does not move.
const LOOKS_A_COUNT: u32 = 3;

/// The component of health that the cursor is.
const CURSOR: &str = "cursor";

/// The component of health that the database's cleaning is.
const CLEANING: &str = "cleaning";

/// Looks until it is dropped.
pub(crate) async fn observe(context: &Context, pool: &Pool, options: &Options) -> Infallible {
    let began = Instant::now();
    let (mut standing, mut horizon) = (Standing::default(), HorizonWatch::default());
    let mut looks = 0_u32;
    loop {
        sleep(options.observe_interval).await;
        let now = began.elapsed();
        let is_counted = looks.is_multiple_of(LOOKS_A_COUNT);
        looks = looks.wrapping_add(1);
        // Whoever works with the database says that it does not answer.
        let Ok(Some(seen)) = timeout(LOOK_MAX, look(pool, &standing, is_counted)).await else { continue };
        show(&seen, &options.outbox);
        let has_backlog = seen.waiting.map(|waiting| waiting.rows > 0);
        say_standing(context, options, standing.note(seen.position.window, has_backlog, now));
        let held_back = horizon.note(seen.horizon.as_ref(), now);
        say_held_back(context, options, seen.horizon.as_ref(), held_back);
    }
}

/// Takes back what was said, of which the next active relay knows better.
pub(crate) fn hide(context: &Context, outbox: &Arc<str>) {
    context.health.clear(CURSOR);
    context.health.clear(CLEANING);
    for gauge in [
        &metrics::CLEANING_HELD_BACK,
        &metrics::OLDEST_AGE,
        &metrics::WAITING_ROWS,
        &metrics::WAITING_BYTES,
        &metrics::WINDOW_TRANSACTIONS,
    ] {
        metrics::set(gauge, outbox, 0.0);
    }
}

fn say_standing(context: &Context, options: &Options, stands: Duration) {
    if stands < options.cursor_standing_after {
        context.health.clear(CURSOR);
        return;
    }
    let detail = format!("rows wait, and the cursor has not moved for {} s", stands.as_secs());
    context.health.degraded(CURSOR, codes::RELAY_CURSOR_STANDING, detail);
}

fn say_held_back(context: &Context, options: &Options, by: Option<&Horizon>, held_back: Duration) {
    metrics::set(&metrics::CLEANING_HELD_BACK, &options.outbox, held_back.as_secs_f64());
    let Some(Horizon { kind, name, xid, .. }) = by.filter(|_| held_back >= options.cleaning_held_back_after)
    else {
        context.health.clear(CLEANING);
        return;
    };
    let seconds = held_back.as_secs();
    let detail =
        format!("{kind} {name} holds back cleaning at transaction {xid}, which has stood for {seconds} s");
    context.health.degraded(CLEANING, codes::RELAY_CLEANING_HELD_BACK, detail);
}

/// What one look saw.
struct Seen {
    position: Position,
    /// How long the oldest row has waited that the cursor has not passed.
    oldest_age: Option<Duration>,
    waiting: Option<Waiting>,
    horizon: Option<Horizon>,
}

async fn look(pool: &Pool, standing: &Standing, is_counted: bool) -> Option<Seen> {
    let db = pool.get().await.ok()?;
    let position = status::position(&**db).await.ok()??;
    let is_counted = is_counted || standing.is_at(&position.window);
    let waiting = if is_counted { Some(status::waiting(&**db, &position).await.ok()?) } else { None };
    let oldest_at = match &waiting {
        Some(waiting) => waiting.oldest_at,
        None => status::oldest(&**db, &position).await.ok()?,
    };
    let oldest_age = oldest_at.map(|oldest_at| position.age_of(oldest_at));
    let horizon = status::horizon(&**db).await.ok()?;
    Some(Seen { position, oldest_age, waiting, horizon })
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
fn show(seen: &Seen, outbox: &Arc<str>) {
    let Window { from, to, .. } = &seen.position.window;
    let transactions = to.xmax().0.saturating_sub(from.xmax().0);
    metrics::set(&metrics::WINDOW_TRANSACTIONS, outbox, transactions as f64);
    let oldest_age = seen.oldest_age.unwrap_or_default();
    metrics::set(&metrics::OLDEST_AGE, outbox, oldest_age.as_secs_f64());
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
