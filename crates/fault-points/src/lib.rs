//! Named points at which a test build stops itself, so that a test can kill or continue it exactly there.
//!
//! Without the feature `enabled`, [`reach`] is an empty `const fn`: nothing of a point is left in a shipped build.
//! With it, a process whose environment names a point in [`VARIABLE`] sends itself SIGSTOP when it gets there. All of
//! its threads stop; the parent sees it with `waitpid(WUNTRACED)` and sends SIGKILL or SIGCONT. Deliberately absent:
//! failures made up inside of the process, because a killed process is what the promises are about.

mod point;

#[cfg(feature = "enabled")]
mod armed;

pub use point::Point;

#[cfg(feature = "enabled")]
pub use armed::{UnknownPoint, reach, validate};

/// The environment variable that arms one point: its name, or `name#n` for the n-th time that it is reached.
pub const VARIABLE: &str = "WAYBILL_FAULT_POINT";

/// Stops this process here when [`VARIABLE`] names `point`. In this build it does nothing.
#[cfg(not(feature = "enabled"))]
#[inline(always)]
pub const fn reach(_point: Point) {}

/// Evaluated by the compiler: a function that can be run at compile time can neither read the environment nor stop
/// anything, which is the proof that a point costs nothing here.
#[cfg(not(feature = "enabled"))]
const _COSTS_NOTHING: () = reach(Point::WorkerVerified);
