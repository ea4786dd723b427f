//! What a person sees while something is measured: how far it is, how fast, and how long it still takes.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a log, which is no terminal, gets a line.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    terminal: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal() }
    }

    /// A line of its own.
    pub(crate) fn say(&self, text: &str) {
        eprintln!("{text}");
    }

    /// Begins something of `total` parts.
    pub(crate) fn begin(&self, title: &str, total: u64) -> Meter {
        let bar = if self.terminal { ProgressBar::new(total) } else { ProgressBar::hidden() };
        let template = "{prefix} {human_pos} of {human_len}, {per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(title.to_owned());
        Meter {
            bar,
            terminal: self.terminal,
            title: title.to_owned(),
            total,
            begun: Instant::now(),
            said: Cell::new(Instant::now()),
        }
    }
}

/// Something that is under way.
#[derive(Debug)]
pub(crate) struct Meter {
    bar: ProgressBar,
    terminal: bool,
    title: String,
    total: u64,
    begun: Instant,
    said: Cell<Instant>,
}

impl Meter {
    /// How far it is.
    pub(crate) fn set(&self, done: u64) {
        self.bar.set_position(done);
        if !self.terminal && self.said.get().elapsed() >= LINE_INTERVAL {
            self.said.set(Instant::now());
            eprintln!("{}", line(&self.title, done, self.total, self.begun.elapsed()));
        }
    }

    /// It is over; `said` is the outcome.
    pub(crate) fn end(self, said: &str) {
        self.bar.finish_and_clear();
        eprintln!("{}: {said} ({:.1} s)", self.title, self.begun.elapsed().as_secs_f64());
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people, and counts are far below 2^52")]
fn line(title: &str, done: u64, total: u64, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
    let left = total.saturating_sub(done) as f64 / rate;
    let left = if left.is_finite() { format!("{left:.0} s left") } else { "nothing yet".to_owned() };
    format!("{title} {done} of {total}, {rate:.0}/s, {left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_rate_part_and_rest() {
        let second = Duration::from_secs(1);
        assert_eq!(line("drain", 250, 1000, second), "drain 250 of 1000, 250/s, 3 s left");
        assert_eq!(line("drain", 0, 1000, second), "drain 0 of 1000, 0/s, nothing yet");
    }
}
