//! The ways in which somebody can be told, as far as they are configured.

use waybill_domain::export::Channel;
use waybill_store::notification::Claimed;

use crate::codes;
use crate::limits::Limits;
use crate::outcome::{MailPhase, Phase, WebhookPhase};
use crate::report::{Report, Sent};
use crate::smtp::MailServer;
use crate::webhook::WebhookSender;

/// The configured channels.
#[derive(Debug, Clone)]
pub struct Channels {
    /// Mail; none without a server.
    pub email: Option<MailServer>,
    /// Webhooks; none without a signing secret.
    pub webhook: Option<WebhookSender>,
}

impl Channels {
    /// The channels over which something can be sent.
    pub fn configured(&self) -> impl Iterator<Item = Channel> {
        Channel::ALL.into_iter().filter(|channel| self.has(*channel))
    }

    /// The channels without settings: what asks for them waits until a process has some.
    pub fn missing(&self) -> impl Iterator<Item = Channel> {
        Channel::ALL.into_iter().filter(|channel| !self.has(*channel))
    }

    const fn has(&self, channel: Channel) -> bool {
        match channel {
            Channel::Email => self.email.is_some(),
            Channel::Webhook => self.webhook.is_some(),
        }
    }

    /// Makes one attempt over the notification's channel.
    pub async fn send(&self, claimed: &Claimed, limits: &Limits) -> Sent {
        match claimed.channel {
            Channel::Email => match &self.email {
                Some(server) => server.send(claimed, limits).await,
                None => not_configured(claimed.channel, Phase::Mail(MailPhase::Prepare)),
            },
            Channel::Webhook => match &self.webhook {
                Some(sender) => sender.send(claimed, limits).await,
                None => not_configured(claimed.channel, Phase::Webhook(WebhookPhase::Prepare)),
            },
        }
    }
}

/// What is not set where a channel is missing.
pub(crate) const fn what_is_missing(channel: Channel) -> &'static str {
    match channel {
        Channel::Email => "[notifier.smtp] names no host",
        Channel::Webhook => "[notifier.webhook] has no signing_secret",
    }
}

/// The sender claims nothing of a missing channel. Whoever does loses nothing by it: it is tried again.
fn not_configured(channel: Channel, phase: Phase) -> Sent {
    let code = Some(codes::NOTIFICATION_CHANNEL_NOT_CONFIGURED);
    Sent::Ended(Report { code, ..Report::lost(phase, what_is_missing(channel)) })
}
