//! From the consumer's status to this process's health page.

use waybill_consumer::StatusSink;
use waybill_runtime::Health;

/// Says on the health page what the consumer says.
pub(crate) struct HealthSink(pub(crate) Health);

impl StatusSink for HealthSink {
    fn degraded(&self, component: &str, code: &'static str, detail: &str) {
        self.0.degraded(component, code, detail);
    }

    fn clear(&self, component: &str) {
        self.0.clear(component);
    }
}
