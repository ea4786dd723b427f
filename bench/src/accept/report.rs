//! From what was measured to what is said.

use super::callers::Acceptances;
use super::through::{Passage, STEPS};
use crate::figure::{Better, Figure};
use crate::series::Series;

const BENCH: &str = "accept";

/// What a rate is in.
const RATE: &str = "exports/s";

/// The figures of each step: its median and its 99th percentile.
const STEP_FIGURES: [(&str, &str); STEPS.len()] = [
    ("through_command_acknowledged_p50_ms", "through_command_acknowledged_p99_ms"),
    ("through_claimed_p50_ms", "through_claimed_p99_ms"),
    ("through_candidate_verified_p50_ms", "through_candidate_verified_p99_ms"),
    ("through_result_selected_p50_ms", "through_result_selected_p99_ms"),
    ("through_fact_acknowledged_p50_ms", "through_fact_acknowledged_p99_ms"),
    ("through_search_applied_p50_ms", "through_search_applied_p99_ms"),
    ("through_stats_applied_p50_ms", "through_stats_applied_p99_ms"),
    ("through_notified_p50_ms", "through_notified_p99_ms"),
];

/// Everything that is measured, round after round.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) accepted: Series<Acceptances>,
    pub(crate) pgbench: Series<f64>,
    pub(crate) prepared: Series<f64>,
    pub(crate) through: Series<Passage>,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            accepted: Series::new(),
            pgbench: Series::new(),
            prepared: Series::new(),
            through: Series::new(),
        }
    }
}

impl Report {
    /// The figure that has a goal, then the others.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let accepted = || self.accepted.median(|accepted| accepted.per_s);
        let (pgbench, prepared) = (self.pgbench.median(|rate| *rate), self.prepared.median(|rate| *rate));
        let versus = |name, peer: &Result<f64, String>, beside| {
            let ratio = accepted().and_then(|ours| Ok(ours / peer.clone()?));
            Figure::new(BENCH, name, ratio, "ratio", Better::Higher).beside(beside)
        };
        let mut figures = vec![
            versus("accept_vs_pgbench", &pgbench, "pgbench -M extended").goal(0.8),
            versus("accept_vs_pgbench_prepared", &prepared, "pgbench -M prepared"),
            rate("accept_per_s", accepted()),
            rate("pgbench_per_s", pgbench),
            rate("pgbench_prepared_per_s", prepared),
            time("accept_p50_ms", self.accepted.median(|accepted| accepted.p50_ms)),
            time("accept_p99_ms", self.accepted.median(|accepted| accepted.p99_ms)),
            rate("through_per_s", self.through.median(|passage| passage.per_s)),
        ];
        for (step, (p50, p99)) in STEP_FIGURES.into_iter().enumerate() {
            figures.push(time(p50, self.through.median(|passage| passage.percentile(step, 50))));
            figures.push(time(p99, self.through.median(|passage| passage.percentile(step, 99))));
        }
        figures
    }
}

fn rate(name: &'static str, value: Result<f64, String>) -> Figure {
    Figure::new(BENCH, name, value, RATE, Better::Higher)
}

fn time(name: &'static str, value: Result<f64, String>) -> Figure {
    Figure::new(BENCH, name, value, "ms", Better::Lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;

    #[tokio::test]
    async fn what_was_not_measured_says_why_and_the_rest_is_still_there() {
        let (mut report, progress) = (Report::default(), Progress::new());
        let accepted = Acceptances { per_s: 800.0, p50_ms: 9.0, p99_ms: 30.0, exports: Vec::new() };
        report.accepted.measure(&progress, async || Ok(accepted)).await;
        report.pgbench.measure(&progress, async || Ok(1000.0)).await;
        report.prepared = Series::impossible("no pgbench".to_owned());
        let figures: Vec<String> = report.figures().iter().map(Figure::to_json).collect();
        assert_eq!(figures.len(), 24);
        assert!(figures[0].contains(r#""value":0.8,"unit":"ratio","goal":0.8"#), "{}", figures[0]);
        assert!(figures[1].contains("no pgbench"), "{}", figures[1]);
        assert!(figures[7].contains("it was never measured"), "{}", figures[7]);
    }
}
