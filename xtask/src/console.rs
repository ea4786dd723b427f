//! What a person sees while something is done: each step, what it is, and how long it took.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

/// Standard error, so that standard output holds only what was asked for.
#[derive(Debug)]
pub(crate) struct Console {
    terminal: bool,
    begun: Instant,
}

impl Console {
    pub(crate) fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), begun: Instant::now() }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Since this invocation began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// A line of its own.
    pub(crate) fn say(&self, text: &str) {
        eprintln!("{text}");
    }

    /// Does one step. Its line ends with how long it took; `work` gives what there is to say of the outcome.
    pub(crate) fn step<T>(&self, title: &str, work: impl FnOnce(&Step) -> Result<(T, String)>) -> Result<T> {
        let step = Step::begin(title, self.terminal);
        let begun = Instant::now();
        let outcome = work(&step);
        step.bar.finish_and_clear();
        let took = seconds(begun.elapsed());
        match outcome {
            Ok((value, said)) => {
                let said = if said.is_empty() { said } else { format!(": {said}") };
                eprintln!("{} {title}{said} ({took})", self.mark("✓", "ok"));
                Ok(value)
            }
            Err(error) => {
                eprintln!("{} {title} ({took})", self.mark("✗", "FAILED"));
                Err(error)
            }
        }
    }

    /// Does one step whose program shows its own progress below the title.
    pub(crate) fn noisy_step<T>(&self, title: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("{} {title} …", self.mark("•", "--"));
        let begun = Instant::now();
        let outcome = work();
        let (mark, plain) = if outcome.is_ok() { ("✓", "ok") } else { ("✗", "FAILED") };
        eprintln!("{} {title} ({})", self.mark(mark, plain), seconds(begun.elapsed()));
        outcome
    }

    /// Signs for eyes on a terminal, words for a log.
    fn mark(&self, sign: &'static str, word: &'static str) -> &'static str {
        if self.terminal { sign } else { word }
    }
}

/// A step that is being done.
#[derive(Debug)]
pub(crate) struct Step {
    bar: ProgressBar,
}

impl Step {
    fn begin(title: &str, terminal: bool) -> Self {
        if !terminal {
            return Self { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_prefix(title.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar }
    }

    /// How far it is.
    pub(crate) fn progress(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }
}

/// `0.3 s`, `4.1 s`, `2 min 5 s`.
pub(crate) fn seconds(duration: Duration) -> String {
    let whole = duration.as_secs();
    if whole >= 60 {
        return format!("{} min {} s", whole / 60, whole % 60);
    }
    let millis = duration.as_millis();
    if millis < 1000 { format!("{millis} ms") } else { format!("{:.1} s", duration.as_secs_f64()) }
}
