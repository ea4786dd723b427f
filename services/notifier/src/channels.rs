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
    /// Makes one attempt over the notification's channel.
    pub async fn send(&self, claimed: &Claimed, limits: &Limits) -> Sent {
        match claimed.channel {
            Channel::Email => match &self.email {
                Some(server) => server.send(claimed, limits).await,
                None => not_configured(Phase::Mail(MailPhase::Prepare), "[notifier.smtp] names no host"),
            },
            Channel::Webhook => match &self.webhook {
                Some(sender) => sender.send(claimed, limits).await,
                None => not_configured(
                    Phase::Webhook(WebhookPhase::Prepare),
                    "[notifier.webhook] has no signing_secret",
                ),
            },
        }
    }
}

fn not_configured(phase: Phase, detail: &str) -> Sent {
    Sent::Ended(Report::refused(phase, codes::NOTIFICATION_CHANNEL_NOT_CONFIGURED, detail))
}
