//! Looks at the whole: turns attempts that never reported back into unknown ones, and says how things stand.
//!
//! Takes no input but the database. Deliberately absent: any decision about an unknown; that is a person's.

use std::time::Duration;

use deadpool_postgres::{Pool, PoolError};
use metrics::{counter, gauge};
use serde_json::json;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use waybill_domain::export::Channel;
use waybill_runtime::{Health, chain};
use waybill_store::StoreError;
use waybill_store::notification::{self, Observed};

use crate::channels::what_is_missing;
use crate::codes;
use crate::metrics::{ATTEMPTS, NOTIFICATIONS, OLDEST_PENDING_SECONDS, WITHOUT_CHANNEL};

/// How long after its deadline an attempt is left to record an outcome that came at the last moment, in milliseconds.
pub const SWEEP_GRACE_MS: u64 = 5_000;
/// The most attempts that one sweep turns unknown.
pub(crate) const SWEEP_ATTEMPTS_MAX: i64 = 500;
/// How long one look may take, in milliseconds.
pub(crate) const WATCH_TIMEOUT_MS: u64 = 10_000;

/// The part of the health page that speaks of the notifier's tables.
const DATABASE_COMPONENT: &str = "database";
/// The part of the health page that speaks of unknown outcomes.
const UNKNOWN_COMPONENT: &str = "unknown";

/// Watches the notifier's tables.
#[derive(Debug)]
pub struct Watch {
    pool: Pool,
    health: Health,
    missing: Vec<Channel>,
    interval: Duration,
    grace: Duration,
}

/// Why a look failed.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// No connection.
    #[error("no connection")]
    Pool(#[from] PoolError),
    /// A statement failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database did not answer in time.
    #[error("no answer within {WATCH_TIMEOUT_MS} ms")]
    Timeout,
}

impl Watch {
    /// A watch that looks every `interval`. `missing` are the channels for which this process has no settings.
    pub fn new(pool: Pool, health: Health, missing: Vec<Channel>, interval: Duration) -> Self {
        Self { pool, health, missing, interval, grace: Duration::from_millis(SWEEP_GRACE_MS) }
    }

    /// The same watch with another grace than [`SWEEP_GRACE_MS`].
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Looks again and again until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        while !shutdown.is_cancelled() {
            tokio::select! {
                () = self.look_and_tell() => {}
                () = shutdown.cancelled() => return,
            }
            tokio::select! {
                () = sleep(self.interval) => {}
                () = shutdown.cancelled() => return,
            }
        }
    }

    async fn look_and_tell(&self) {
        let looked = timeout(Duration::from_millis(WATCH_TIMEOUT_MS), self.look())
            .await
            .unwrap_or(Err(WatchError::Timeout));
        match looked {
            Ok(_) => self.health.clear(DATABASE_COMPONENT),
            Err(error) => {
                let detail = chain(&error);
                self.health.degraded(DATABASE_COMPONENT, codes::NOTIFIER_DATABASE_UNAVAILABLE, detail);
            }
        }
    }

    /// Sweeps once and says how things stand.
    ///
    /// # Errors
    /// The database cannot be asked.
    pub async fn look(&self) -> Result<Observed, WatchError> {
        let client = self.pool.get().await?;
        let evidence = json!({
            "phase": "sending",
            "ending": "lost",
            "reason": codes::NOTIFICATION_OUTCOME_UNKNOWN,
            "detail": "found in sending after its deadline",
        });
        let swept = notification::sweep_overdue(&**client, self.grace, SWEEP_ATTEMPTS_MAX, &evidence).await?;
        for one in swept {
            counter!(ATTEMPTS.name, "channel" => one.channel.as_str(), "outcome" => "unknown").increment(1);
            tracing::warn!(
                notification_id = %one.notification_id,
                channel = one.channel.as_str(),
                attempt = one.attempt,
                code = codes::NOTIFICATION_OUTCOME_UNKNOWN,
                "found in sending after its deadline: unknown"
            );
        }
        let observed = notification::observe(&**client).await?;
        self.tell(&observed);
        if !self.missing.is_empty() {
            self.tell_missing(&notification::count_due(&**client, &self.missing).await?);
        }
        Ok(observed)
    }

    /// Says what waits for settings. Nothing is due of a channel that is not in `due`.
    fn tell_missing(&self, due: &[(Channel, i64)]) {
        for channel in &self.missing {
            let waiting = due.iter().find(|(of, _)| of == channel).map_or(0, |(_, count)| *count);
            #[expect(clippy::cast_precision_loss, reason = "a count of rows, for a graph")]
            gauge!(WITHOUT_CHANNEL.name, "channel" => channel.as_str()).set(waiting as f64);
            let component = format!("channel {}", channel.as_str());
            if waiting > 0 {
                let detail = format!("{waiting} due notifications wait: {}", what_is_missing(*channel));
                self.health.degraded(&component, codes::NOTIFICATION_CHANNEL_NOT_CONFIGURED, detail);
            } else {
                self.health.clear(&component);
            }
        }
    }

    fn tell(&self, observed: &Observed) {
        for (state, count) in
            [("pending", observed.pending), ("sending", observed.sending), ("unknown", observed.unknown)]
        {
            #[expect(clippy::cast_precision_loss, reason = "a count of rows, for a graph")]
            gauge!(NOTIFICATIONS.name, "state" => state).set(count as f64);
        }
        gauge!(OLDEST_PENDING_SECONDS.name).set(observed.oldest_pending_seconds.unwrap_or(0.0));
        if observed.unknown > 0 {
            let detail = format!("{} notifications whose outcome nobody knows", observed.unknown);
            self.health.degraded(UNKNOWN_COMPONENT, codes::NOTIFICATION_OUTCOME_UNKNOWN, detail);
        } else {
            self.health.clear(UNKNOWN_COMPONENT);
        }
    }
}
