use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `[api]`: the listener that callers see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Api {
    /// Address and port; port 0 takes a free one, which the log names.
    pub listen: SocketAddr,
    /// How many connections are open at once; more wait until one of them is closed.
    pub connections_max: usize,
    /// How long a caller may take to send a request's head, and how long a connection may wait for its next request.
    pub header_timeout_ms: u64,
    /// How long a caller may take nothing of an answer that waits for it.
    pub stall_timeout_ms: u64,
    /// The largest request body that is read.
    pub body_bytes_max: usize,
    /// How long one request may take until its answer begins; it bounds no download.
    pub request_timeout_ms: u64,
    /// How many requests are worked on at once; more are refused with 503 and `Retry-After`.
    pub requests_in_flight_max: usize,
    /// How long the result of an export is kept whose owner did not say; 0: until somebody deletes it.
    pub result_retention_hours: u64,
    /// How a file is handed over.
    pub content: Content,
    /// How many waits and event streams are open at once; beyond that nobody is made to wait, and no stream begins.
    pub watchers_max: usize,
    /// How many of them are of one tenant.
    pub watchers_per_tenant_max: usize,
}

/// How a file is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// By the api, which compares it with its digest on its way out.
    Stream,
    /// By the store, through a link of minutes; by the api where the store cannot sign.
    Link,
}

impl Default for Api {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            connections_max: 768,
            header_timeout_ms: 15_000,
            stall_timeout_ms: 60_000,
            body_bytes_max: 65_536,
            request_timeout_ms: 10_000,
            requests_in_flight_max: 512,
            result_retention_hours: 720,
            content: Content::Stream,
            watchers_max: 256,
            watchers_per_tenant_max: 64,
        }
    }
}

impl Api {
    /// [`Self::header_timeout_ms`] as a duration.
    #[must_use]
    pub fn header_timeout(&self) -> Duration {
        Duration::from_millis(self.header_timeout_ms)
    }

    /// [`Self::stall_timeout_ms`] as a duration.
    #[must_use]
    pub fn stall_timeout(&self) -> Duration {
        Duration::from_millis(self.stall_timeout_ms)
    }

    /// [`Self::request_timeout_ms`] as a duration.
    #[must_use]
    pub fn request_timeout(&self) -> Duration {
        Duration::from_millis(self.request_timeout_ms)
    }
}
