//! The points of a test build.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::signal::{Signal, raise};

use crate::{Point, VARIABLE};

/// The environment arms a point that does not exist, or counts its hits with something that is no positive number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPoint(String);

impl std::fmt::Display for UnknownPoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = Point::ALL.iter().map(|point| point.name()).collect();
        write!(f, "{VARIABLE}={} names no fault point; the points are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownPoint {}

/// A point and the hit of it, counted from 1, at which the process stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Armed {
    point: Point,
    hit: u64,
}

/// Stops this process here when [`VARIABLE`] names `point`.
pub fn reach(point: Point) {
    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
    static HITS: AtomicU64 = AtomicU64::new(0);
    let armed = ARMED.get_or_init(|| armed_by_environment().unwrap_or_default());
    let Some(armed) = armed.filter(|armed| armed.point == point) else { return };
    if HITS.fetch_add(1, Ordering::SeqCst) + 1 == armed.hit {
        // To this thread, not to the process: the kernel would let any thread take a signal of the process, and this
        // one would run on meanwhile. A stop that one thread takes stops all of them, and this one first.
        let _ = raise(Signal::SIGSTOP);
    }
}

/// Says whether the environment arms a point that exists, or none. A test that misspells a point would otherwise
/// wait for a stop that never comes.
///
/// # Errors
/// [`UnknownPoint`] with the valid names.
pub fn validate() -> Result<Option<Point>, UnknownPoint> {
    Ok(armed_by_environment()?.map(|armed| armed.point))
}

fn armed_by_environment() -> Result<Option<Armed>, UnknownPoint> {
    std::env::var(VARIABLE).map_or(Ok(None), |value| parse(&value))
}

fn parse(value: &str) -> Result<Option<Armed>, UnknownPoint> {
    if value.is_empty() {
        return Ok(None);
    }
    let unknown = || UnknownPoint(value.to_owned());
    let (name, hit) = match value.split_once('#') {
        Some((name, hit)) => (name, hit.parse().ok().filter(|hit| *hit > 0).ok_or_else(unknown)?),
        None => (value, 1),
    };
    let point = Point::ALL.iter().copied().find(|point| point.name() == name).ok_or_else(unknown)?;
    Ok(Some(Armed { point, hit }))
}

#[cfg(test)]
mod tests {
    use super::{Armed, parse};
    use crate::Point;

    #[test]
    fn a_name_arms_the_first_hit_and_a_number_a_later_one() {
        assert_eq!(parse(""), Ok(None));
        assert_eq!(parse("api.committed"), Ok(Some(Armed { point: Point::ApiCommitted, hit: 1 })));
        assert_eq!(parse("worker.verified#3"), Ok(Some(Armed { point: Point::WorkerVerified, hit: 3 })));
    }

    #[test]
    fn a_point_that_does_not_exist_is_refused_with_the_valid_names() {
        for wrong in ["api.comitted", "api.committed#0", "api.committed#x"] {
            let refusal = parse(wrong).unwrap_err().to_string();
            assert!(refusal.contains("api.committed, relay.opened"), "{refusal}");
        }
    }
}
