use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::secret::Secret;

/// `[notifier]`: tells people and systems outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notifier {
    /// How often due notifications are looked for when nothing wakes the notifier.
    pub poll_interval_ms: u64,
    /// How long one attempt may take. What is still `sending` after it is unknown.
    pub send_deadline_ms: u64,
    /// How many attempts of one channel run at once.
    pub concurrency: usize,
    /// With how many passing failures of its own a notification is rejected. That the mail server could not be reached
    /// is none of them.
    pub attempts_max: i32,
    /// For how long, from its first attempt on, a mail is tried at least while the mail server cannot be reached.
    pub retry_term_hours: u64,
    /// The wait before the second attempt; it doubles with each later one.
    pub retry_delay_ms: u64,
    /// The longest wait between two attempts.
    pub retry_delay_max_ms: u64,
    /// `[notifier.smtp]`
    pub smtp: Smtp,
    /// `[notifier.webhook]`
    pub webhook: Webhook,
}

impl Default for Notifier {
    fn default() -> Self {
        Self {
            poll_interval_ms: 1000,
            send_deadline_ms: 30_000,
            concurrency: 8,
            attempts_max: 20,
            retry_term_hours: 72,
            retry_delay_ms: 5000,
            retry_delay_max_ms: 600_000,
            smtp: Smtp::default(),
            webhook: Webhook::default(),
        }
    }
}

impl Notifier {
    /// [`Self::poll_interval_ms`] as a duration.
    #[must_use]
    pub fn poll_interval(&self) -> Duration {
        Duration::from_millis(self.poll_interval_ms)
    }

    /// [`Self::send_deadline_ms`] as a duration.
    #[must_use]
    pub fn send_deadline(&self) -> Duration {
        Duration::from_millis(self.send_deadline_ms)
    }

    /// [`Self::retry_term_hours`] as a duration.
    #[must_use]
    pub fn retry_term(&self) -> Duration {
        Duration::from_secs(self.retry_term_hours.saturating_mul(3_600))
    }
}

/// When a mail's connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum SmtpTls {
    /// Never.
    None,
    /// When the server offers STARTTLS.
    #[default]
    Opportunistic,
    /// STARTTLS or nothing.
    Required,
}

/// `[notifier.smtp]`: the relay that takes our mail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Smtp {
    /// The server's name; empty where no mail is sent.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The sender of every mail.
    pub from: String,
    /// Whether the connection is encrypted.
    pub tls: SmtpTls,
    /// The login, if the server asks for one.
    pub username: Option<String>,
    /// The login's password.
    pub password: Option<Secret>,
    /// A file that holds the password.
    pub password_file: Option<PathBuf>,
}

impl Default for Smtp {
    fn default() -> Self {
        Self {
            host: String::new(),
            port: 25,
            from: "Waybill <waybill@localhost>".to_owned(),
            tls: SmtpTls::default(),
            username: None,
            password: None,
            password_file: None,
        }
    }
}

impl Smtp {
    /// The password, read from its file if it lies in one.
    ///
    /// # Errors
    /// [`ConfigError::SecretFile`] when the file cannot be read.
    pub fn password(&self) -> Result<Option<Secret>, ConfigError> {
        Secret::from_value_or_file(
            "notifier.smtp.password_file",
            self.password.as_ref(),
            self.password_file.as_ref(),
        )
    }
}

/// `[notifier.webhook]`: signed calls to systems outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Webhook {
    /// The master from which each tenant's signing key is derived (`waybill tenant webhook-secret`). Any long text.
    pub signing_secret: Option<Secret>,
    /// A file that holds the master.
    pub signing_secret_file: Option<PathBuf>,
    /// Whether a target may resolve to a loopback, private or link-local address.
    pub allow_private_networks: bool,
}

impl Webhook {
    /// The signing key, read from its file if it lies in one.
    ///
    /// # Errors
    /// [`ConfigError::SecretFile`] when the file cannot be read.
    pub fn signing_secret(&self) -> Result<Option<Secret>, ConfigError> {
        Secret::from_value_or_file(
            "notifier.webhook.signing_secret_file",
            self.signing_secret.as_ref(),
            self.signing_secret_file.as_ref(),
        )
    }
}
