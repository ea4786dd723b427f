//! The catalogue of what `/metrics` shows.
//!
//! Each crate lists its own; the binary puts the lists together and installs them, so that every metric is described,
//! and there, from the first scrape.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds of a duration's buckets: from a statement to a large export.
const SECONDS_BUCKETS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];
/// Upper bounds of the buckets of anything that is counted.
const COUNT_BUCKETS: &[f64] =
    &[1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 5000.0, 20_000.0];

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// `waybill_…`, with the base unit at its end.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: MetricKind,
    /// What it says, in one sentence.
    pub help: &'static str,
    /// Its labels. Never a tenant or a target.
    pub labels: &'static [&'static str],
}

/// What kind of number a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only rises.
    Counter,
    /// Rises and falls.
    Gauge,
    /// A distribution.
    Histogram,
}

impl MetricKind {
    /// The kind's name, as the exposition format has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }

    /// The kind with this name, for crates that list their metrics without knowing this one.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Counter, Self::Gauge, Self::Histogram].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The version that runs.
pub const BUILD_INFO: Metric = Metric {
    name: "waybill_build_info",
    kind: MetricKind::Gauge,
    help: "1, labelled with the version that runs.",
    labels: &["version"],
};
/// How many reasons `/readyz` shows.
pub const HEALTH_REASONS: Metric = Metric {
    name: "waybill_health_reasons",
    kind: MetricKind::Gauge,
    help: "Reasons that /readyz shows, by role and severity.",
    labels: &["role", "severity"],
};
/// The connections of the pools.
pub const CONNECTIONS: Metric = Metric {
    name: "waybill_database_connections",
    kind: MetricKind::Gauge,
    help: "Postgres connections that this process holds in its pools, idle or used.",
    labels: &["role", "schema", "state"],
};
/// The connections that a pool threw away.
pub const CONNECTIONS_DISCARDED: Metric = Metric {
    name: "waybill_database_connections_discarded_total",
    kind: MetricKind::Counter,
    help: "Postgres connections that a pool threw away instead of handing them out: open_transaction, read_only, slow or broken.",
    labels: &["reason"],
};

/// The metrics of this crate.
pub const METRICS: &[Metric] = &[BUILD_INFO, HEALTH_REASONS, CONNECTIONS, CONNECTIONS_DISCARDED];

/// What renders `/metrics`.
#[derive(Clone)]
pub struct Exporter {
    handle: PrometheusHandle,
    catalog: std::sync::Arc<[Metric]>,
}

/// Makes the process-wide recorder, with every metric of the catalogue described in it.
///
/// # Errors
/// When the recorder cannot be built, or there is one already.
pub fn install(catalog: Vec<Metric>) -> Result<Exporter, BuildError> {
    let builder = PrometheusBuilder::new()
        .set_buckets(COUNT_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS_BUCKETS)?;
    let handle = builder.install_recorder()?;
    for metric in &catalog {
        describe(metric);
    }
    metrics::gauge!(BUILD_INFO.name, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    Ok(Exporter { handle, catalog: catalog.into() })
}

fn describe(metric: &Metric) {
    let unlabelled = metric.labels.is_empty();
    match metric.kind {
        MetricKind::Counter => {
            describe_counter!(metric.name, Unit::Count, metric.help);
            if unlabelled {
                metrics::counter!(metric.name).increment(0);
            }
        }
        MetricKind::Gauge => {
            describe_gauge!(metric.name, metric.help);
            if unlabelled {
                metrics::gauge!(metric.name).increment(0.0);
            }
        }
        MetricKind::Histogram => describe_histogram!(metric.name, metric.help),
    }
}

impl Exporter {
    /// The text of `/metrics`. A metric that has no sample yet is there by its description.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = self.handle.render();
        for Metric { name, kind, help, .. } in self.catalog.iter() {
            if !text.contains(&format!("# TYPE {name} ")) {
                text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {}\n", kind.as_str()));
            }
        }
        text
    }

    /// Keeps histograms from growing between scrapes that never come. Called on a timer.
    pub fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}
