//! Where a consumer says how it is.

/// Takes what a person should know about one component of this process. A service bridges it to its health page.
pub trait StatusSink: Send + Sync + 'static {
    /// The component works less than it should, and this is why. Said again, it replaces what was said before.
    fn degraded(&self, component: &str, code: &'static str, detail: &str);

    /// The component is well again.
    fn clear(&self, component: &str);
}
