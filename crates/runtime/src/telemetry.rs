//! The log: for people on a terminal, one JSON object a line elsewhere. It goes to stderr; stdout is for answers.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::config::{LogFormat, Telemetry};

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// `telemetry.filter` is no filter.
    #[error("`telemetry.filter` is no filter")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// Something in this process has set up a log before.
    #[error("the log is set up already")]
    Again(#[from] TryInitError),
}

/// Sets the process's log up.
///
/// # Errors
/// [`TelemetryError`].
pub fn install(telemetry: &Telemetry) -> Result<(), TelemetryError> {
    let filter = EnvFilter::try_new(&telemetry.filter)?;
    let terminal = std::io::stderr().is_terminal();
    let json = match telemetry.format {
        LogFormat::Auto => !terminal,
        LogFormat::Pretty => false,
        LogFormat::Json => true,
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if json {
        lines.json().flatten_event(true).with_current_span(true).with_span_list(false).finish().try_init()?;
    } else {
        lines.with_ansi(terminal).with_target(false).finish().try_init()?;
    }
    Ok(())
}
