//! Waybill's side: its relay as a process.

use anyhow::{Context, Result};

use crate::installation::{Installation, Started};
use crate::stack::Stack;

/// What of `[relay]` its producer is made with, and librdkafka's name for it.
const PRODUCER_SETTINGS: [(&str, &str); 3] =
    [("linger_ms", "linger.ms"), ("batch_bytes_max", "batch.size"), ("compression", "compression.type")];

/// What the relay's producer is configured with, under librdkafka's names.
pub(crate) fn producer_settings(installation: &Installation<'_>) -> Result<Vec<(&'static str, String)>> {
    let shown = installation.ask(&["config", "show"])?;
    let setting = |(ours, theirs): (&'static str, &'static str)| {
        let value = &shown["relay"][ours];
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (!value.is_null()).then_some((theirs, text)).with_context(|| format!("no relay.{ours} is configured"))
    };
    PRODUCER_SETTINGS.into_iter().map(setting).collect()
}

/// Starts the relay as a process of its own.
pub(crate) fn start(installation: &Installation<'_>, stack: &Stack) -> Result<Started> {
    installation.start(stack.service("relay"), &["relay"], stack.port("management")?)
}
