//! Small exports through everything: from the request to Kafka's acknowledgement of the completed fact, to search, to the
//! counters and to a webhook that was taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_postgres::Client;

use super::callers::{Callers, wish};
use super::size::CALLERS;
use crate::installation::{Installation, Started};
use crate::processor::Of;
use crate::progress::Progress;
use crate::shares::Shares;
use crate::stack::Stack;
use crate::stall::Stall;

/// Each role is a process of its own, so that its processor time is known.
const ROLES: [&str; 7] = ["api", "relay", "worker", "search", "stats", "notifier", "reconciler"];

/// How often to look: the look costs the server something.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// The most exports whose timelines are read.
const TIMELINES_MAX: usize = 1000;

/// The steps of a timeline that every export goes through, in their order.
pub(crate) const STEPS: [&str; 8] = [
    "command-acknowledged",
    "claimed",
    "candidate-verified",
    "result-selected",
    "fact-acknowledged",
    "search-applied",
    "stats-applied",
    "notified",
];

/// What it runs on.
pub(crate) struct Through<'run> {
    pub(crate) stack: &'run Stack,
    pub(crate) installation: &'run Installation<'run>,
    pub(crate) db: &'run Client,
}

/// What came out.
#[derive(Debug, Clone)]
pub(crate) struct Passage {
    /// From the first request to the last effect.
    pub(crate) per_s: f64,
    /// Of each of [`STEPS`] the times after the step before it, in order of length.
    pub(crate) took_ms: [Vec<f64>; STEPS.len()],
}

impl Passage {
    /// The percentile of a step's times.
    pub(crate) fn percentile(&self, step: usize, percent: usize) -> f64 {
        let times = &self.took_ms[step];
        times.get((times.len() * percent).div_ceil(100).saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }
}

impl Through<'_> {
    /// Asks for so many exports, waits for every effect of each, and reads what is stored about them.
    pub(crate) async fn run(&self, progress: &Progress, callers: &Callers, exports: u64) -> Result<Passage> {
        let told = Arc::new(AtomicU64::new(0));
        let target = listen(Arc::clone(&told)).await?;
        let mut processes = Vec::new();
        for role in ROLES {
            let management = self.stack.port(&format!("{role}-management"))?;
            processes.push((role, self.installation.start(self.stack.service(role), &[role], management)?));
        }
        let passage = self.pass(progress, callers, exports, (&processes, &target, &told)).await;
        for (role, process) in processes {
            let ran = process.check().context(role);
            process.stop()?;
            ran?;
        }
        passage
    }

    async fn pass(
        &self,
        progress: &Progress,
        callers: &Callers,
        exports: u64,
        (processes, target, told): (&[(&'static str, Started)], &str, &AtomicU64),
    ) -> Result<Passage> {
        callers.wait().await?;
        let shares = self.shares(processes);
        let begun = Instant::now();
        let wish = wish(&[json!({ "channel": "webhook", "target": target })]);
        let accepted = callers.ask_all_for(progress, exports / CALLERS as u64, "through", &wish).await?;
        self.arrive(progress, exports).await?;
        let took = begun.elapsed();
        progress.say(&format!("  {} exports in {:.1} s; {}", exports, took.as_secs_f64(), shares.describe()));
        // A webhook may come twice, and never be missing.
        let told = told.load(Ordering::Relaxed);
        ensure!(told >= exports, "{told} of {exports} webhooks came");
        let step = accepted.exports.len().div_ceil(TIMELINES_MAX);
        let mut took_ms: [Vec<f64>; STEPS.len()] = Default::default();
        for (place, export_id) in accepted.exports.iter().step_by(step) {
            let timeline = callers.at(*place)?.get(&format!("/v1/exports/{export_id}/timeline")).await?;
            for (times, name) in took_ms.iter_mut().zip(STEPS) {
                times
                    .push(since_previous(&timeline, name).with_context(|| format!("no {name}: {timeline}"))?);
            }
        }
        for times in &mut took_ms {
            times.sort_by(f64::total_cmp);
        }
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let per_s = exports as f64 / took.as_secs_f64();
        Ok(Passage { per_s, took_ms })
    }

    /// Waits until all of them have had every effect.
    async fn arrive(&self, progress: &Progress, exports: u64) -> Result<()> {
        let meter = progress.begin("  go through", exports);
        let statement = self.db.prepare(include_str!("sql/arrived.sql")).await?;
        let mut stall = Stall::watch();
        loop {
            let row = self.db.query_one(&statement, &[]).await.context("no counts")?;
            let count = |column: &str| anyhow::Ok(row.try_get::<_, i64>(column)?.unsigned_abs());
            ensure!(count("lost")? == 0, "{} exports failed", count("lost")?);
            let effects = [count("acknowledged")?, count("found")?, count("counted")?, count("told")?];
            let through = effects.into_iter().min().unwrap_or_default();
            meter.set(through);
            if through >= exports {
                meter.end(&format!("{exports} exports"));
                return Ok(());
            }
            stall.next(effects.iter().sum()).await?;
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    fn shares(&self, processes: &[(&'static str, Started)]) -> Shares {
        let pid_of = |name| self.stack.service(name).running().map_or(0, |running| running.pid);
        let ours = processes.iter().map(|(role, process)| (*role, Of::Process(process.pid)));
        let shared = [
            ("postgres", Of::Family(pid_of("postgres"))),
            ("kafka", Of::Process(pid_of("kafka"))),
            ("bench", Of::Process(std::process::id().cast_signed())),
        ];
        Shares::begin(&ours.chain(shared).collect::<Vec<_>>())
    }
}

/// Takes every webhook, and gives where.
async fn listen(told: Arc<AtomicU64>) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.context("no port for webhooks")?;
    let address = listener.local_addr()?;
    let router = Router::new().fallback(take).with_state(told);
    // It ends with the bench.
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(format!("http://{address}/exports"))
}

async fn take(State(told): State<Arc<AtomicU64>>) -> StatusCode {
    told.fetch_add(1, Ordering::Relaxed);
    StatusCode::NO_CONTENT
}

/// How long after the step before it a step was first reached, in milliseconds.
fn since_previous(timeline: &Value, name: &str) -> Option<f64> {
    let step = timeline["steps"].as_array()?.iter().find(|step| step["step"] == name)?;
    step["since_previous_ms"].as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_was_not_reached_has_no_time() {
        let steps = json!([
            { "step": "claimed", "since_previous_ms": 2.5 },
            { "step": "candidate-verified", "since_previous_ms": null },
        ]);
        let timeline = json!({ "steps": steps });
        assert_eq!(since_previous(&timeline, "claimed"), Some(2.5));
        assert_eq!(since_previous(&timeline, "candidate-verified"), None);
        assert_eq!(since_previous(&timeline, "notified"), None);
    }
}
