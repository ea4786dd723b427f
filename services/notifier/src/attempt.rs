//! One attempt from its claim to its recorded outcome.

use std::time::{Duration, Instant};

use deadpool_postgres::{Pool, PoolError};
use metrics::{counter, histogram};
use serde_json::Value;
use tokio::time::timeout;
use waybill_domain::export::Channel;
use waybill_runtime::{Health, chain};
use waybill_store::StoreError;
use waybill_store::notification::{self, AttemptEnd, Claimed};

use crate::channels::Channels;
use crate::codes;
use crate::limits::Limits;
use crate::metrics::{ATTEMPT_SECONDS, ATTEMPTS};
use crate::outcome::{Ending, Outcome, Phase};
use crate::report::{Report, Sent};
use crate::retry::{Fault, Policy, Tries};

/// The wait before an outcome that could not be recorded is recorded again, in milliseconds; it doubles.
pub(crate) const RECORD_BACKOFF_FIRST_MS: u64 = 100;
/// The longest such wait, in milliseconds.
pub(crate) const RECORD_BACKOFF_MAX_MS: u64 = 5_000;
/// How long one try to record an outcome may take, in milliseconds.
pub(crate) const RECORD_TIMEOUT_MS: u64 = 4_000;

/// The part of the health page that speaks of the mail server.
const EMAIL_COMPONENT: &str = "email";

/// What every attempt needs.
#[derive(Debug)]
pub(crate) struct Attempts {
    pub(crate) pool: Pool,
    pub(crate) channels: Channels,
    pub(crate) retry: Policy,
    pub(crate) health: Health,
}

/// Why an outcome could not be recorded yet.
#[derive(Debug, thiserror::Error)]
enum RecordError {
    #[error("no connection")]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no answer within {RECORD_TIMEOUT_MS} ms")]
    Timeout,
}

impl Attempts {
    /// Makes the attempt and records what became of it.
    pub(crate) async fn carry_out(&self, claimed: Claimed, limits: Limits) {
        let begun = Instant::now();
        let report = match self.channels.send(&claimed, &limits).await {
            Sent::Ended(report) => report,
            Sent::TooLate => {
                tracing::warn!(
                    notification_id = %claimed.notification_id,
                    attempt = claimed.attempt,
                    code = codes::NOTIFICATION_DEADLINE_PASSED,
                    "not sent: the attempt's deadline passed before its first byte; the sweeper decides"
                );
                return;
            }
        };
        let elapsed = begun.elapsed();
        self.tell_health(claimed.channel, &report);
        let (end, reason) = settle(&report, &tries(&claimed), &self.retry);
        counter!(ATTEMPTS.name, "channel" => claimed.channel.as_str(), "outcome" => end.as_str())
            .increment(1);
        histogram!(ATTEMPT_SECONDS.name, "channel" => claimed.channel.as_str()).record(elapsed);
        tracing::info!(
            notification_id = %claimed.notification_id,
            export_id = %claimed.export_id,
            channel = claimed.channel.as_str(),
            attempt = claimed.attempt,
            outcome = end.as_str(),
            phase = report.phase.as_str(),
            code = reason.unwrap_or_default(),
            elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            "attempt ended"
        );
        self.record(&claimed, end, &report.evidence(elapsed, reason), &limits).await;
    }

    /// Records an outcome, again and again while the process may wait. If it cannot, the sweeper finds the attempt.
    async fn record(&self, claimed: &Claimed, end: AttemptEnd, evidence: &Value, limits: &Limits) {
        let mut backoff = Duration::from_millis(RECORD_BACKOFF_FIRST_MS);
        loop {
            let error = match self.record_once(claimed, end, evidence).await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::warn!(
                        notification_id = %claimed.notification_id,
                        attempt = claimed.attempt,
                        outcome = end.as_str(),
                        "the attempt was no longer `sending` when its outcome came; nothing was changed"
                    );
                    return;
                }
                Err(error) => error,
            };
            if limits.cut_off.is_cancelled() {
                tracing::error!(
                    notification_id = %claimed.notification_id,
                    attempt = claimed.attempt,
                    outcome = end.as_str(),
                    code = codes::NOTIFIER_DATABASE_UNAVAILABLE,
                    error = %chain(&error),
                    "the outcome could not be recorded before the process ended; the attempt will be unknown"
                );
                return;
            }
            let detail = chain(&error);
            self.health.degraded("record", codes::NOTIFIER_DATABASE_UNAVAILABLE, detail);
            tokio::select! {
                () = tokio::time::sleep(backoff) => {}
                () = limits.cut_off.cancelled() => {}
            }
            backoff = backoff.saturating_mul(2).min(Duration::from_millis(RECORD_BACKOFF_MAX_MS));
        }
    }

    async fn record_once(
        &self,
        claimed: &Claimed,
        end: AttemptEnd,
        evidence: &Value,
    ) -> Result<bool, RecordError> {
        let recording = async {
            let client = self.pool.get().await?;
            let id = &claimed.notification_id;
            let recorded =
                notification::record_outcome(&**client, id, claimed.attempt, end, evidence).await?;
            Ok(recorded)
        };
        let recorded = timeout(Duration::from_millis(RECORD_TIMEOUT_MS), recording)
            .await
            .map_err(|_elapsed| RecordError::Timeout)?;
        if recorded.is_ok() {
            self.health.clear("record");
        }
        recorded
    }

    /// A mail server that cannot be reached concerns every mail; a webhook's target concerns its owner alone.
    fn tell_health(&self, channel: Channel, report: &Report) {
        match (channel, report.phase, report.code) {
            (Channel::Email, Phase::Mail(_), Some(code @ codes::NOTIFICATION_CHANNEL_UNREACHABLE)) => {
                let detail = match report.ending {
                    Ending::Reply(reply) => {
                        format!("{reply} {}", report.reply.as_deref().unwrap_or_default())
                    }
                    Ending::Lost | Ending::Refused => report.detail.clone(),
                };
                self.health.degraded(EMAIL_COMPONENT, code, detail);
            }
            (Channel::Email, Phase::Mail(_), _) if report.ending != Ending::Refused => {
                self.health.clear(EMAIL_COMPONENT);
            }
            (Channel::Email | Channel::Webhook, _, _) => {}
        }
    }
}

const fn tries(claimed: &Claimed) -> Tries {
    Tries { attempt: claimed.attempt, failures: claimed.failures, tried_for: claimed.tried_for }
}

/// What is recorded of an attempt's end, and the code of the reason where it settles the notification badly. Pure.
pub fn settle(report: &Report, tries: &Tries, policy: &Policy) -> (AttemptEnd, Option<&'static str>) {
    match report.outcome() {
        Outcome::Accepted => (AttemptEnd::Accepted, None),
        Outcome::Rejected => {
            (AttemptEnd::Rejected, Some(report.code.unwrap_or(codes::NOTIFICATION_REJECTED_BY_RECEIVER)))
        }
        Outcome::Retry => {
            let fault = report.fault();
            match policy.delay(tries, fault, report.retry_after) {
                Some(delay) => (AttemptEnd::Retry { delay, own: fault == Fault::Own }, report.code),
                None => (AttemptEnd::Rejected, Some(codes::NOTIFICATION_ATTEMPTS_EXHAUSTED)),
            }
        }
        Outcome::Unknown => (AttemptEnd::Unknown, Some(codes::NOTIFICATION_OUTCOME_UNKNOWN)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{MailPhase, WebhookPhase};

    const POLICY: Policy = Policy {
        attempts_max: 3,
        term: Duration::from_secs(3_600),
        delay_first: Duration::from_secs(5),
        delay_max: Duration::from_secs(60),
    };
    const REQUEST: Phase = Phase::Webhook(WebhookPhase::Request);
    const CONNECT: Phase = Phase::Webhook(WebhookPhase::Connect);

    fn attempt(attempt: i32) -> Tries {
        Tries { attempt, failures: attempt - 1, tried_for: Duration::ZERO }
    }

    #[test]
    fn the_last_failure_that_may_be_tried_again_rejects_with_its_reason() {
        let refused = Report::lost(CONNECT, "connection refused");
        let retry = AttemptEnd::Retry { delay: Duration::from_secs(5), own: true };
        assert_eq!(settle(&refused, &attempt(1), &POLICY), (retry, None));
        assert_eq!(
            settle(&refused, &attempt(3), &POLICY),
            (AttemptEnd::Rejected, Some(codes::NOTIFICATION_ATTEMPTS_EXHAUSTED))
        );
    }

    #[test]
    fn a_channel_that_is_away_or_missing_is_no_failure_of_the_notification() {
        for code in [codes::NOTIFICATION_CHANNEL_UNREACHABLE, codes::NOTIFICATION_CHANNEL_NOT_CONFIGURED] {
            let lost = Report::lost(Phase::Mail(MailPhase::Connect), "connection refused");
            let report = Report { code: Some(code), ..lost };
            let retry = AttemptEnd::Retry { delay: Duration::from_secs(60), own: false };
            assert_eq!(settle(&report, &attempt(100), &POLICY), (retry, Some(code)));
        }
    }

    #[test]
    fn an_unknown_outcome_stays_unknown_whatever_attempt_it_was() {
        for number in 1..=4 {
            let (end, code) = settle(&Report::lost(REQUEST, "reset"), &attempt(number), &POLICY);
            assert_eq!((end, code), (AttemptEnd::Unknown, Some(codes::NOTIFICATION_OUTCOME_UNKNOWN)));
        }
    }

    #[test]
    fn a_refusal_of_our_own_keeps_its_own_reason() {
        let refused = Report::refused(CONNECT, codes::NOTIFICATION_ADDRESS_REFUSED, "10.0.0.1");
        assert_eq!(
            settle(&refused, &attempt(1), &POLICY),
            (AttemptEnd::Rejected, Some(codes::NOTIFICATION_ADDRESS_REFUSED))
        );
        let (_, code) = settle(&Report::reply(REQUEST, 410, ""), &attempt(1), &POLICY);
        assert_eq!(code, Some(codes::NOTIFICATION_REJECTED_BY_RECEIVER));
    }
}
