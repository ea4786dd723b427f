use serde::{Deserialize, Serialize};

/// `[telemetry]`: what the log says and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Telemetry {
    /// The form of a line.
    pub format: LogFormat,
    /// Which lines are written, as `tracing_subscriber`'s `EnvFilter` reads it: `info,waybill_relay=debug`.
    pub filter: String,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { format: LogFormat::Auto, filter: "info".to_owned() }
    }
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// [`Self::Pretty`] on a terminal, [`Self::Json`] elsewhere.
    #[default]
    Auto,
    /// For people.
    Pretty,
    /// One JSON object a line.
    Json,
}
