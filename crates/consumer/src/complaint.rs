//! What one task says is wrong, and takes back when it ends or succeeds.

use crate::status::StatusSink;

/// A component's degraded state for as long as somebody is in it.
pub(crate) struct Complaint<'a> {
    status: &'a dyn StatusSink,
    component: String,
    raised: Option<&'static str>,
}

impl<'a> Complaint<'a> {
    pub(crate) fn new(status: &'a dyn StatusSink, component: String) -> Self {
        Self { status, component, raised: None }
    }

    /// Says it, and logs it when the code is another one than before.
    pub(crate) fn raise(&mut self, code: &'static str, detail: &str) {
        if self.raised.replace(code) != Some(code) {
            tracing::warn!(component = self.component, code, detail, "degraded");
        }
        self.status.degraded(&self.component, code, detail);
    }

    /// Takes it back.
    pub(crate) fn clear(&mut self) {
        if let Some(code) = self.raised.take() {
            tracing::info!(component = self.component, code, "recovered");
            self.status.clear(&self.component);
        }
    }
}

impl Drop for Complaint<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
