//! One signed HTTP request for one notification (Standard Webhooks 1.0).
//!
//! The request's body is a stream whose first poll is the moment just before the first byte leaves: there the
//! deadline is checked, and from there on an answer that never comes is unknown. Deliberately absent: redirects, proxies from the
//! environment, connections that are kept, and any second try.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::stream;
use jiff::Timestamp;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Body, Client, Request, Response, redirect, retry};
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook};
use tokio::time::timeout;
use url::Url;
use waybill_runtime::{Secret, chain};
use waybill_store::notification::Claimed;

use crate::address::{GuardedResolver, refusal};
use crate::codes;
use crate::limits::Limits;
use crate::outcome::{Phase, WebhookPhase};
use crate::report::{EXCERPT_BYTES_MAX, Report, Sent};
use crate::secret::tenant_key;

/// How long a connection, its TLS handshake included, may take to be made, in milliseconds.
pub(crate) const CONNECT_TIMEOUT_MS: u64 = 10_000;
/// How long the beginning of a response body is waited for once the status is known, in milliseconds.
pub(crate) const EXCERPT_TIMEOUT_MS: u64 = 2_000;

const USER_AGENT: &str = concat!("waybill/", env!("CARGO_PKG_VERSION"));

/// Sends webhooks.
#[derive(Debug, Clone)]
pub struct WebhookSender {
    client: Client,
    guard: GuardedResolver,
    master: Secret,
}

/// Why a webhook cannot be made into a request.
#[derive(Debug, thiserror::Error)]
enum TargetError {
    #[error("the target is not a URL")]
    NotAUrl(#[from] url::ParseError),
    #[error("the target's scheme is {0}, and only http and https are sent to")]
    Scheme(String),
    #[error("the target has no host")]
    NoHost,
    #[error("the content cannot be signed")]
    Unsignable(#[from] standardwebhooks::WebhookError),
    #[error("the request cannot be built")]
    Request(#[from] reqwest::Error),
}

/// What the request's body learnt when it was asked for its bytes.
#[derive(Debug, Default)]
struct FirstByte {
    leaving: AtomicBool,
    too_late: AtomicBool,
}

/// The deadline had passed when the first byte was about to leave.
#[derive(Debug, thiserror::Error)]
#[error("the attempt's deadline has passed")]
struct TooLate;

impl WebhookSender {
    /// A sender that signs with keys derived from `master`.
    ///
    /// # Errors
    /// The TLS library cannot be set up.
    pub fn new(master: Secret, guard: GuardedResolver) -> Result<Self, reqwest::Error> {
        let client = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(Duration::from_millis(CONNECT_TIMEOUT_MS))
            .dns_resolver(Arc::new(guard))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .http1_only()
            // A kept connection may be closed under a request, and then nobody knows whether it was read.
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(Self { client, guard, master })
    }

    /// Sends one notification as a request, if the deadline has not passed when the first byte would leave.
    pub async fn send(&self, claimed: &Claimed, limits: &Limits) -> Sent {
        let first_byte = Arc::new(FirstByte::default());
        let request = match self.request(claimed, limits, &first_byte) {
            Ok(request) => request,
            Err(error) => {
                let phase = Phase::Webhook(WebhookPhase::Prepare);
                let detail = chain(&error);
                return Sent::Ended(Report::refused(phase, codes::NOTIFICATION_TARGET_INVALID, detail));
            }
        };
        if let Some(host) = request.url().host()
            && let Err(refused) = self.guard.admit_literal(&host)
        {
            let phase = Phase::Webhook(WebhookPhase::Prepare);
            let detail = refused.to_string();
            return Sent::Ended(Report::refused(phase, codes::NOTIFICATION_ADDRESS_REFUSED, detail));
        }
        if limits.deadline.has_passed() {
            return Sent::TooLate;
        }
        let answered = limits.within(self.client.execute(request)).await;
        if first_byte.too_late.load(Ordering::Acquire) {
            return Sent::TooLate;
        }
        let phase = Phase::Webhook(match first_byte.leaving.load(Ordering::Acquire) {
            true => WebhookPhase::Request,
            false => WebhookPhase::Connect,
        });
        Sent::Ended(match answered {
            Ok(Ok(response)) => answer(phase, response).await,
            Ok(Err(error)) => match refusal(&error) {
                Some(refused) => {
                    Report::refused(phase, codes::NOTIFICATION_ADDRESS_REFUSED, refused.to_string())
                }
                None => Report::lost(phase, chain(&error.without_url())),
            },
            Err(cut) => Report::lost(phase, cut.to_string()),
        })
    }

    fn request(
        &self,
        claimed: &Claimed,
        limits: &Limits,
        first_byte: &Arc<FirstByte>,
    ) -> Result<Request, TargetError> {
        let url = Url::parse(&claimed.target)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(TargetError::Scheme(url.scheme().to_owned()));
        }
        if !url.has_host() {
            return Err(TargetError::NoHost);
        }
        let timestamp = Timestamp::now().as_second();
        let id = claimed.notification_id.as_str();
        let key = Webhook::from_bytes(tenant_key(&self.master, &claimed.tenant_id))?;
        let signature = key.sign(id, timestamp, claimed.body.as_bytes())?;
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_LENGTH, claimed.body.len())
            .header(HEADER_WEBHOOK_ID, id)
            .header(HEADER_WEBHOOK_TIMESTAMP, timestamp)
            .header(HEADER_WEBHOOK_SIGNATURE, signature)
            .body(gated_body(claimed.body.clone(), limits, first_byte))
            .build()?;
        Ok(request)
    }
}

/// A body that gives its bytes only while the deadline has not passed, and says that it was asked.
fn gated_body(body: String, limits: &Limits, first_byte: &Arc<FirstByte>) -> Body {
    let deadline = limits.deadline;
    let first_byte = Arc::clone(first_byte);
    Body::wrap_stream(stream::once(async move {
        if deadline.has_passed() {
            first_byte.too_late.store(true, Ordering::Release);
            return Err(TooLate);
        }
        first_byte.leaving.store(true, Ordering::Release);
        Ok(body)
    }))
}

async fn answer(phase: Phase, mut response: Response) -> Report {
    let status = response.status().as_u16();
    let retry_after = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| parse_retry_after(value, Timestamp::now()));
    let mut kept = Vec::new();
    let reading = async {
        while kept.len() < EXCERPT_BYTES_MAX
            && let Ok(Some(chunk)) = response.chunk().await
        {
            kept.extend_from_slice(&chunk[..chunk.len().min(EXCERPT_BYTES_MAX - kept.len())]);
        }
    };
    // The status is the answer. A body that breaks off or never comes changes nothing about it.
    let whole = timeout(Duration::from_millis(EXCERPT_TIMEOUT_MS), reading).await.is_ok();
    let detail = if whole { "" } else { "the response body did not come in time" };
    let reply = String::from_utf8_lossy(&kept).into_owned();
    Report { retry_after, detail: detail.to_owned(), ..Report::reply(phase, status, reply) }
}

/// Retry-After (RFC 9110, section 10.2.3): seconds, or a date that is compared with `now`.
fn parse_retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpListener;
    use tokio_util::sync::CancellationToken;
    use uuid::Uuid;
    use waybill_domain::export::Channel;
    use waybill_domain::ids::{ExportId, NotificationId, TenantId};

    use super::*;
    use crate::boot_clock::Deadline;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "2015-10-21T07:27:00Z".parse().unwrap();
        assert_eq!(parse_retry_after("120", now), Some(Duration::from_secs(120)));
        assert_eq!(parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT", now), Some(Duration::from_secs(60)));
        assert_eq!(parse_retry_after("Wed, 21 Oct 2015 07:26:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(parse_retry_after("soon", now), None);
    }

    #[tokio::test]
    async fn a_deadline_that_passes_while_the_connection_is_made_keeps_every_byte_back() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let guard = GuardedResolver { allow_private_networks: true };
        let sender = WebhookSender::new(Secret::new("master"), guard).unwrap();
        let late = Limits { deadline: Deadline::after(Duration::ZERO), cut_off: CancellationToken::new() };
        let first_byte = Arc::new(FirstByte::default());
        // The request is made as if the deadline had been ahead; the body is asked for its bytes behind it.
        let request = sender.request(&claimed(url), &late, &first_byte).unwrap();
        let executing = sender.client.execute(request);
        let (answered, accepted) = tokio::join!(executing, listener.accept());
        assert!(answered.is_err());
        assert!(first_byte.too_late.load(Ordering::Acquire) && !first_byte.leaving.load(Ordering::Acquire));
        let mut arrived = Vec::new();
        accepted.unwrap().0.read_to_end(&mut arrived).await.unwrap();
        assert!(arrived.is_empty(), "{}", String::from_utf8_lossy(&arrived));
    }

    fn claimed(target: String) -> Claimed {
        let id = Uuid::from_u128(1);
        Claimed {
            notification_id: NotificationId::from_uuid(id),
            attempt: 1,
            channel: Channel::Webhook,
            target,
            tenant_id: TenantId::from_uuid(id),
            export_id: ExportId::from_uuid(id),
            subject: None,
            body: "{}".to_owned(),
            created_at: Timestamp::now(),
            failures: 0,
            tried_for: Duration::ZERO,
        }
    }
}
