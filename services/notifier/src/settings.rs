//! From the configuration to what the notifier works with; what cannot work is said before anything is consumed.

use std::time::Duration;

use lettre::message::Mailbox;
use waybill_runtime::config::{ConfigError, Notifier, Smtp, SmtpTls, Webhook};

use crate::address::GuardedResolver;
use crate::channels::Channels;
use crate::retry::Policy;
use crate::smtp::{MailServer, Tls};
use crate::webhook::WebhookSender;

/// How the sender and the watch work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How often the database is looked at when nothing hints.
    pub poll_interval: Duration,
    /// How long after its claim an attempt may send.
    pub send_deadline: Duration,
    /// How many attempts of one channel run at once.
    pub concurrency: usize,
    /// When it is tried again.
    pub retry: Policy,
}

/// Settings that the notifier cannot work with.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A secret's file cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// `[notifier.smtp] from` is no mailbox.
    #[error("[notifier.smtp] from is not a mailbox such as `Waybill <waybill@example.org>`")]
    From(#[source] lettre::address::AddressError),
    /// A login without a password, or the other way round.
    #[error("[notifier.smtp] username and password (or password_file) belong together")]
    Login,
    /// A bound that allows nothing.
    #[error("[notifier] {key} must be at least 1")]
    Bound {
        /// The key.
        key: &'static str,
    },
    /// The TLS library of webhooks cannot be set up.
    #[error("the HTTP client cannot be made")]
    Client(#[from] reqwest::Error),
}

impl Pace {
    /// Reads `[notifier]`.
    ///
    /// # Errors
    /// A bound allows nothing.
    pub fn new(config: &Notifier) -> Result<Self, SettingsError> {
        let positive = [
            ("concurrency", config.concurrency > 0),
            ("attempts_max", config.attempts_max > 0),
            ("retry_term_hours", config.retry_term_hours > 0),
            ("poll_interval_ms", config.poll_interval_ms > 0),
            ("send_deadline_ms", config.send_deadline_ms > 0),
        ];
        if let Some((key, _)) = positive.into_iter().find(|(_, holds)| !holds) {
            return Err(SettingsError::Bound { key });
        }
        Ok(Self {
            poll_interval: config.poll_interval(),
            send_deadline: config.send_deadline(),
            concurrency: config.concurrency,
            retry: Policy {
                attempts_max: config.attempts_max,
                term: config.retry_term(),
                delay_first: Duration::from_millis(config.retry_delay_ms),
                delay_max: Duration::from_millis(config.retry_delay_max_ms),
            },
        })
    }
}

impl Channels {
    /// Reads `[notifier.smtp]` and `[notifier.webhook]`. A channel that is not configured is absent.
    ///
    /// # Errors
    /// What is configured cannot be used.
    pub fn new(config: &Notifier) -> Result<Self, SettingsError> {
        Ok(Self { email: mail_server(&config.smtp)?, webhook: webhook_sender(&config.webhook)? })
    }
}

fn mail_server(config: &Smtp) -> Result<Option<MailServer>, SettingsError> {
    if config.host.is_empty() {
        return Ok(None);
    }
    let from: Mailbox = config.from.parse().map_err(SettingsError::From)?;
    let login = match (&config.username, config.password()?) {
        (Some(username), Some(password)) => Some((username.clone(), password)),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return Err(SettingsError::Login),
    };
    let tls = match config.tls {
        SmtpTls::None => Tls::None,
        SmtpTls::Opportunistic => Tls::Opportunistic,
        SmtpTls::Required => Tls::Required,
    };
    Ok(Some(MailServer { host: config.host.clone(), port: config.port, from, tls, login }))
}

fn webhook_sender(config: &Webhook) -> Result<Option<WebhookSender>, SettingsError> {
    let guard = GuardedResolver { allow_private_networks: config.allow_private_networks };
    match config.signing_secret()? {
        Some(master) if !master.expose().is_empty() => Ok(Some(WebhookSender::new(master, guard)?)),
        Some(_) | None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_without_settings_is_absent() {
        let config = Notifier::default();
        let channels = Channels::new(&config).unwrap();
        assert!(channels.email.is_none() && channels.webhook.is_none());
    }

    #[test]
    fn a_sender_that_is_no_mailbox_is_refused_before_anything_is_sent() {
        let mut config = Notifier::default();
        config.smtp.host = "mail.example".to_owned();
        config.smtp.from = "Waybill <waybill@localhost>\r\nBcc: eve@example.com".to_owned();
        assert!(matches!(Channels::new(&config), Err(SettingsError::From(_))));
    }

    #[test]
    fn a_login_needs_its_password() {
        let mut config = Notifier::default();
        config.smtp.host = "mail.example".to_owned();
        config.smtp.username = Some("waybill".to_owned());
        assert!(matches!(Channels::new(&config), Err(SettingsError::Login)));
    }
}
