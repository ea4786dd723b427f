//! Who had the processor while something was measured.

use std::time::{Duration, Instant};

use crate::processor::{Of, time};

/// Processes by name, and what they had taken at a moment.
#[derive(Debug)]
pub(crate) struct Shares {
    begun: Instant,
    processes: Vec<(&'static str, Of, Duration)>,
}

impl Shares {
    pub(crate) fn begin(processes: &[(&'static str, Of)]) -> Self {
        let read = |&(name, of): &(&'static str, Of)| (name, of, time(of));
        Self { begun: Instant::now(), processes: processes.iter().map(read).collect() }
    }

    /// What each had since, in parts of one core.
    pub(crate) fn describe(&self) -> String {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let share = |(name, of, before): &(&'static str, Of, Duration)| {
            let taken = time(*of).saturating_sub(*before).as_secs_f64();
            format!("{name} {:.0} %", 100.0 * taken / elapsed)
        };
        let shares: Vec<String> = self.processes.iter().map(share).collect();
        format!("of a core: {}", shares.join(", "))
    }
}
