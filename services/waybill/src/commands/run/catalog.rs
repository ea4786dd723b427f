use waybill_runtime::metrics::{self, Metric, MetricKind};

/// The metrics of every crate of this binary, whatever roles this process runs: a dashboard needs no exceptions.
pub(crate) fn all() -> Vec<Metric> {
    let services = [
        metrics::METRICS,
        waybill_api::metrics::METRICS,
        waybill_relay::METRICS,
        waybill_worker::metrics::METRICS,
        waybill_notifier::METRICS,
        waybill_reconciler::metrics::METRICS,
    ];
    // The consumer serves other products, too, and so does not know our runtime.
    let consumer = waybill_consumer::METRICS.iter().filter_map(|(name, kind, help, labels)| {
        Some(Metric { name, kind: MetricKind::parse(kind)?, help, labels })
    });
    services.into_iter().flatten().copied().chain(consumer).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    fn documented() -> String {
        let mut text = String::new();
        let mut metrics = all();
        metrics.sort_by_key(|metric| metric.name);
        for metric in metrics {
            let labels =
                metric.labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ");
            let labels = if labels.is_empty() { "–".to_owned() } else { labels };
            text.push_str(&format!(
                "| `{}` | {} | {labels} | {} |\n",
                metric.name,
                metric.kind.as_str(),
                metric.help
            ));
        }
        text
    }

    #[test]
    fn the_documented_metrics_are_the_catalogue() {
        let page =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md")).unwrap();
        let rows: String = page
            .lines()
            .filter(|line| line.starts_with("| `waybill_"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(rows == documented(), "docs/metrics.md should hold these rows:\n{}", documented());
    }

    #[test]
    fn every_metric_is_named_once_in_base_units_and_never_after_a_tenant_or_a_target() {
        let mut names = BTreeSet::new();
        for metric in all() {
            assert!(names.insert(metric.name), "{} is listed twice", metric.name);
            assert!(metric.name.starts_with("waybill_"), "{}", metric.name);
            for unit in ["_ms", "_millis", "_minutes", "_kb", "_mb"] {
                assert!(!metric.name.contains(unit), "{} is not in a base unit", metric.name);
            }
            for label in metric.labels {
                assert!(
                    !["tenant_id", "tenant", "target", "export_id"].contains(label),
                    "{} has {label}",
                    metric.name
                );
            }
        }
    }
}
