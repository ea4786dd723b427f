//! Callers of the api, each with a tenant, a key and a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::LINES;
use crate::client::{Caller, Tenant};
use crate::progress::Progress;

/// How often progress is shown while they ask.
const SHOW_INTERVAL: Duration = Duration::from_millis(200);

/// All of them.
#[derive(Debug)]
pub(crate) struct Callers {
    tenants: Vec<Tenant>,
}

/// How fast exports were accepted.
#[derive(Debug, Clone)]
pub(crate) struct Acceptances {
    pub(crate) per_s: f64,
    /// From a request to its answer.
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Of each export the id, and the caller's place.
    pub(crate) exports: Vec<(usize, String)>,
}

impl Acceptances {
    pub(crate) fn describe(&self) -> String {
        let Self { per_s, p50_ms, p99_ms, .. } = self;
        format!("{per_s:.0} a second, after {p50_ms:.1} ms (median), {p99_ms:.1} ms (p99)")
    }
}

impl Callers {
    pub(crate) async fn make(operator: &Caller, callers: usize) -> Result<Self> {
        let mut tenants = Vec::new();
        for number in 0..callers {
            tenants.push(operator.tenant(&format!("bench-{number}")).await?);
        }
        Ok(Self { tenants })
    }

    pub(crate) fn tenant_ids(&self) -> impl Iterator<Item = &str> {
        self.tenants.iter().map(|tenant| tenant.tenant_id.as_str())
    }

    /// Waits until the api answers.
    pub(crate) async fn wait(&self) -> Result<()> {
        self.at(0)?.wait("/v1/usage").await
    }

    /// One of them.
    pub(crate) fn at(&self, place: usize) -> Result<&Caller> {
        Ok(&self.tenants.get(place).context("no such caller")?.caller)
    }

    /// Each asks for so many exports, one after the other, and all of them at once.
    pub(crate) async fn ask_all(&self, progress: &Progress, each: u64, round: usize) -> Result<Acceptances> {
        self.ask_all_for(progress, each, &format!("round-{round}"), &wish(&[])).await
    }

    /// The same, for exports that are wished for like this.
    pub(crate) async fn ask_all_for(
        &self,
        progress: &Progress,
        each: u64,
        intent: &str,
        wish: &Value,
    ) -> Result<Acceptances> {
        let total = each * self.tenants.len() as u64;
        let meter = progress.begin("  accept", total);
        let done = Arc::new(AtomicU64::new(0));
        let begun = Instant::now();
        let mut asking = JoinSet::new();
        for (place, tenant) in self.tenants.iter().enumerate() {
            // A client keeps its connection, and shares it with nobody.
            let caller = tenant.caller.alone();
            let (done, wish, intent) = (Arc::clone(&done), wish.clone(), intent.to_owned());
            asking.spawn(async move {
                let mut accepted = Vec::new();
                for number in 0..each {
                    let asked = Instant::now();
                    let export_id = caller.ask(&format!("{intent}-{number}"), &wish).await?;
                    accepted.push((place, export_id, asked.elapsed()));
                    done.fetch_add(1, Ordering::Relaxed);
                }
                anyhow::Ok(accepted)
            });
        }
        let mut accepted = Vec::new();
        let mut ticks = tokio::time::interval(SHOW_INTERVAL);
        loop {
            tokio::select! {
                joined = asking.join_next() => match joined {
                    Some(joined) => accepted.extend(joined.context("a caller broke off")??),
                    None => break,
                },
                _ = ticks.tick() => meter.set(done.load(Ordering::Relaxed)),
            }
        }
        let took = begun.elapsed();
        ensure!(accepted.len() as u64 == total, "{} of {total} were accepted", accepted.len());
        meter.end(&format!("{total} exports"));
        Ok(summary(accepted, took))
    }
}

/// What a caller asks for, and who is told of it.
pub(crate) fn wish(notify: &[Value]) -> Value {
    json!({ "dataset": LINES.name, "format": "csv", "notify": notify })
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn summary(accepted: Vec<(usize, String, Duration)>, took: Duration) -> Acceptances {
    let mut latencies: Vec<Duration> = accepted.iter().map(|(_, _, latency)| *latency).collect();
    latencies.sort();
    let percentile = |percent: usize| {
        let at = (latencies.len() * percent).div_ceil(100).saturating_sub(1);
        latencies.get(at).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    };
    Acceptances {
        per_s: accepted.len() as f64 / took.as_secs_f64(),
        p50_ms: percentile(50),
        p99_ms: percentile(99),
        exports: accepted.into_iter().map(|(place, export_id, _)| (place, export_id)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_latencies_that_were_seen() {
        let one = |ms| (0, format!("exp_{ms}"), Duration::from_millis(ms));
        let seen = summary((1..=200).map(one).collect(), Duration::from_secs(2));
        assert_eq!((seen.per_s, seen.p50_ms, seen.p99_ms), (100.0, 100.0, 198.0));
        assert_eq!(seen.exports.len(), 200);
    }
}
