//! The end of a process: asked for by a signal, done in a bounded time.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long a role may take to end after its token is cancelled. The rest of the 30 s is the process's own.
pub const ROLE_LIMIT: Duration = Duration::from_secs(28);

/// SIGTERM and SIGINT.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Takes the signals over. From here on they end nothing by themselves.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn install() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next signal and answers its number. Cancel safe.
    pub async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
        }
    }

    /// Cancels `token` at the first signal; at the second one ends the process on the spot, with the exit code that a
    /// shell gives to a process that a signal ended.
    pub async fn cancel(mut self, token: CancellationToken) {
        let first = self.next().await;
        tracing::info!(
            signal = first,
            limit_ms = u64::try_from(ROLE_LIMIT.as_millis()).unwrap_or(0),
            "shutting down"
        );
        token.cancel();
        let second = self.next().await;
        tracing::warn!(signal = second, "second signal: ending at once");
        std::process::exit(128 + second);
    }
}
