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

use crate::age::OldestAge;
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
pub(crate) async fn observe(
    context: &Context,
    pool: &Pool,
    options: &Options,
    oldest: &OldestAge,
) -> Infallible {
    let began = Instant::now();
    let (mut standing, mut horizon) = (Standing::default(), HorizonWatch::default());
    let mut looks = 0_u32;
    loop {
        sleep(options.observe_interval).await;
        let now = began.elapsed();
        let is_counted = looks.is_multiple_of(LOOKS_A_COUNT);
        looks = looks.wrapping_add(1);
        // Whoever works with the database says that it does not answer.
        let Ok(Some(seen)) = timeout(LOOK_MAX, look(pool, &standing, is_counted)).await else {
            oldest.grow();
            continue;
        };
        oldest.saw(seen.oldest_age);
        show(&seen, &options.outbox);
        say_standing(context, options, standing.note(&seen));
        let held_back = horizon.note(seen.horizon.as_ref(), now);
        say_held_back(context, options, seen.horizon.as_ref(), held_back);
    }
}

/// Takes back what was said, of which the next active relay knows better; the oldest row's age is taken back by whoever
/// knows that there is one.
pub(crate) fn hide(context: &Context, outbox: &Arc<str>) {
    context.health.clear(CURSOR);
    context.health.clear(CLEANING);
    for gauge in [
        &metrics::CLEANING_HELD_BACK,
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
    if let Some(waiting) = &seen.waiting {
        metrics::set(&metrics::WAITING_ROWS, outbox, waiting.rows as f64);
        metrics::set(&metrics::WAITING_BYTES, outbox, waiting.bytes_estimate.unwrap_or_default());
    }
}

/// Where the cursor was at the last look, if rows were before it.
#[derive(Debug, Default)]
struct Standing {
    place: Option<Window>,
}

impl Standing {
    fn is_at(&self, window: &Window) -> bool {
        self.place.as_ref() == Some(window)
    }

    /// Notes a look, and answers how long the cursor has stood there with rows before it, which two looks in a row must
    /// find: a row may be old when it is committed, and is passed at once. It has stood since it moved last, by the
    /// database's clock, and no longer than there has been something to pass.
    fn note(&mut self, seen: &Seen) -> Duration {
        let Seen { position, oldest_age, .. } = seen;
        let stood = self.is_at(&position.window);
        self.place = oldest_age.map(|_| position.window.clone());
        match oldest_age {
            Some(age) if stood => position.age_of(position.moved_at).min(*age),
            Some(_) | None => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use waybill_outbox::window::Snapshot;

    use super::*;

    const MOVED_AT: &str = "2026-01-01T00:00:00Z";

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// What a look sees: where the cursor is, how long ago it moved, and how long the oldest row has waited.
    fn seen(after_seq: i64, moved_ago: Duration, oldest_age: Option<Duration>) -> Seen {
        let (from, to) = (Snapshot::of_nothing(), Snapshot::of_everything());
        let moved_at = MOVED_AT.parse().expect("a timestamp");
        let position = Position {
            holder: None,
            fence: 1,
            lease_remaining: Duration::ZERO,
            window: Window { from, to, after_seq, floor_seq: 0, resend_after_seq: None },
            identity: None,
            moved_at,
            asked_at: moved_at + moved_ago,
            ended_by_then: Snapshot::of_nothing(),
        };
        Seen { position, oldest_age, waiting: None, horizon: None }
    }

    #[test]
    fn only_a_backlog_at_two_looks_in_a_row_before_a_cursor_that_stays_is_a_standstill() {
        let mut standing = Standing::default();
        let waits = |age| Some(seconds(age));
        assert_eq!(standing.note(&seen(1, seconds(5), waits(5))), seconds(0), "seen once");
        assert_eq!(standing.note(&seen(1, seconds(45), waits(45))), seconds(45));
        assert_eq!(standing.note(&seen(2, seconds(5), waits(55))), seconds(0), "it moved");
        assert_eq!(standing.note(&seen(2, seconds(15), None)), seconds(0), "nothing waits");
        assert_eq!(
            standing.note(&seen(2, seconds(900), waits(600))),
            seconds(0),
            "it was old when it was committed, after long idling"
        );
        assert_eq!(standing.note(&seen(2, seconds(910), waits(10))), seconds(10), "a row after long idling");
    }

    #[test]
    fn a_standstill_is_as_long_at_the_first_look_after_its_term_whenever_the_looks_come() {
        let (interval_seconds, term) = (10, seconds(30));
        for first_look in 0..interval_seconds {
            let mut standing = Standing::default();
            let mut looks = (0..10).map(|look| seconds(first_look + look * interval_seconds));
            let said = looks.clone().find(|at| standing.note(&seen(1, *at, Some(*at))) >= term);
            assert_eq!(said, looks.find(|at| *at >= term), "looks begin {first_look} s after the move");
        }
    }
}
