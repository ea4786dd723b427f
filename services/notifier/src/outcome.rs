//! What an attempt's end means. Pure: no I/O, no clock.
//!
//! The rule behind every arm: what was surely not taken may be tried again; what the other side refused is over; what
//! may have been taken without our knowing is unknown, and nobody sends it again on a guess.

/// How far an attempt came, by its channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A mail, over SMTP.
    Mail(MailPhase),
    /// A webhook, over HTTP.
    Webhook(WebhookPhase),
}

/// The steps of one SMTP session (RFC 5321, section 3), named by what was last begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailPhase {
    /// Nothing has left: settings, address and message are being prepared.
    Prepare,
    /// The server's name is resolved and a connection made.
    Connect,
    /// The greeting is awaited and EHLO said.
    Greeting,
    /// STARTTLS and its handshake.
    Encrypt,
    /// AUTH.
    Authenticate,
    /// MAIL FROM.
    Sender,
    /// RCPT TO.
    Recipient,
    /// DATA.
    Data,
    /// The message's bytes; its final dot has not been written.
    Content,
    /// The final dot may have left: from here on the server may have the message.
    FinalDot,
}

/// The steps of one webhook request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookPhase {
    /// Nothing has left: settings, URL and signature are being prepared.
    Prepare,
    /// Name, connection and TLS: no byte of the request has left.
    Connect,
    /// Bytes of the request may have left.
    Request,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The other side answered: an SMTP reply code or an HTTP status.
    Reply(u16),
    /// No answer that can be read: refused, reset, timed out, closed or garbled.
    Lost,
    /// We refused ourselves, for good, before anything left.
    Refused,
}

/// What an attempt's end means for its notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The other side took it. Accepted is not read.
    Accepted,
    /// It was not taken and never will be.
    Rejected,
    /// It was surely not taken; it may be tried again.
    Retry,
    /// Nobody knows.
    Unknown,
}

impl MailPhase {
    /// The spelling in evidence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Connect => "connect",
            Self::Greeting => "greeting",
            Self::Encrypt => "encrypt",
            Self::Authenticate => "authenticate",
            Self::Sender => "sender",
            Self::Recipient => "recipient",
            Self::Data => "data",
            Self::Content => "content",
            Self::FinalDot => "final_dot",
        }
    }

    /// Whether a failure here is the mail server's (or our settings') and not this one mail's.
    pub const fn is_before_the_mail(self) -> bool {
        match self {
            Self::Connect | Self::Greeting | Self::Encrypt | Self::Authenticate => true,
            Self::Prepare | Self::Sender | Self::Recipient | Self::Data | Self::Content | Self::FinalDot => {
                false
            }
        }
    }
}

impl WebhookPhase {
    /// The spelling in evidence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Connect => "connect",
            Self::Request => "request",
        }
    }
}

impl Phase {
    /// The spelling in evidence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mail(phase) => phase.as_str(),
            Self::Webhook(phase) => phase.as_str(),
        }
    }
}

impl Outcome {
    /// The stored spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Retry => "retry",
            Self::Unknown => "unknown",
        }
    }
}

/// Decides what an attempt's end means.
pub fn outcome(phase: Phase, ending: Ending) -> Outcome {
    match phase {
        Phase::Mail(phase) => mail_outcome(phase, ending),
        Phase::Webhook(phase) => webhook_outcome(phase, ending),
    }
}

fn mail_outcome(phase: MailPhase, ending: Ending) -> Outcome {
    match (phase, ending) {
        (_, Ending::Refused) => Outcome::Rejected,
        // A server that turns everybody away, or does not know our password, says nothing about this mail.
        (
            MailPhase::Prepare
            | MailPhase::Connect
            | MailPhase::Greeting
            | MailPhase::Encrypt
            | MailPhase::Authenticate,
            Ending::Reply(_) | Ending::Lost,
        ) => Outcome::Retry,
        // Without its final dot a message is none (RFC 5321, section 4.1.1.4), so the server cannot have taken it.
        (MailPhase::Sender | MailPhase::Recipient | MailPhase::Data | MailPhase::Content, Ending::Lost) => {
            Outcome::Retry
        }
        (
            MailPhase::Sender | MailPhase::Recipient | MailPhase::Data | MailPhase::Content,
            Ending::Reply(500..=599),
        ) => Outcome::Rejected,
        (
            MailPhase::Sender | MailPhase::Recipient | MailPhase::Data | MailPhase::Content,
            Ending::Reply(_),
        ) => Outcome::Retry,
        (MailPhase::FinalDot, Ending::Reply(200..=299)) => Outcome::Accepted,
        (MailPhase::FinalDot, Ending::Reply(400..=499)) => Outcome::Retry,
        (MailPhase::FinalDot, Ending::Reply(500..=599)) => Outcome::Rejected,
        (MailPhase::FinalDot, Ending::Reply(_) | Ending::Lost) => Outcome::Unknown,
    }
}

fn webhook_outcome(phase: WebhookPhase, ending: Ending) -> Outcome {
    match (phase, ending) {
        (_, Ending::Refused) => Outcome::Rejected,
        (WebhookPhase::Prepare | WebhookPhase::Connect, Ending::Lost) => Outcome::Retry,
        (_, Ending::Reply(200..=299)) => Outcome::Accepted,
        // The receiver says that it did not take the request (RFC 6585, section 4).
        (_, Ending::Reply(429)) => Outcome::Retry,
        // "I got no whole request in time" (RFC 9110, section 15.5.9) proves nothing once bytes have left.
        (WebhookPhase::Prepare | WebhookPhase::Connect, Ending::Reply(408)) => Outcome::Retry,
        (WebhookPhase::Request, Ending::Reply(408)) => Outcome::Unknown,
        // A redirect is not followed: the next host was never agreed on, nor checked.
        (_, Ending::Reply(300..=499)) => Outcome::Rejected,
        // A server that broke may have broken after the effect, and no target has promised us idempotency.
        (_, Ending::Reply(_)) => Outcome::Unknown,
        (WebhookPhase::Request, Ending::Lost) => Outcome::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE_CONTENT: [MailPhase; 8] = [
        MailPhase::Prepare,
        MailPhase::Connect,
        MailPhase::Greeting,
        MailPhase::Encrypt,
        MailPhase::Authenticate,
        MailPhase::Sender,
        MailPhase::Recipient,
        MailPhase::Data,
    ];

    fn mail(phase: MailPhase, ending: Ending) -> Outcome {
        outcome(Phase::Mail(phase), ending)
    }

    fn webhook(phase: WebhookPhase, ending: Ending) -> Outcome {
        outcome(Phase::Webhook(phase), ending)
    }

    #[test]
    fn a_mail_that_is_lost_before_its_final_dot_may_be_tried_again() {
        for phase in BEFORE_CONTENT.into_iter().chain([MailPhase::Content]) {
            assert_eq!(mail(phase, Ending::Lost), Outcome::Retry, "{}", phase.as_str());
        }
    }

    #[test]
    fn a_mail_that_is_lost_after_its_final_dot_is_unknown() {
        assert_eq!(mail(MailPhase::FinalDot, Ending::Lost), Outcome::Unknown);
        assert_eq!(mail(MailPhase::FinalDot, Ending::Reply(354)), Outcome::Unknown);
    }

    #[test]
    fn only_the_reply_to_the_final_dot_accepts_a_mail() {
        assert_eq!(mail(MailPhase::FinalDot, Ending::Reply(250)), Outcome::Accepted);
        for phase in BEFORE_CONTENT {
            assert_ne!(mail(phase, Ending::Reply(250)), Outcome::Accepted, "{}", phase.as_str());
        }
    }

    #[test]
    fn a_4xx_reply_is_always_tried_again() {
        for phase in BEFORE_CONTENT.into_iter().chain([MailPhase::FinalDot]) {
            assert_eq!(mail(phase, Ending::Reply(451)), Outcome::Retry, "{}", phase.as_str());
        }
    }

    #[test]
    fn a_5xx_reply_rejects_the_mail_but_not_for_a_server_that_lets_nobody_in() {
        for phase in [MailPhase::Sender, MailPhase::Recipient, MailPhase::Data, MailPhase::FinalDot] {
            assert_eq!(mail(phase, Ending::Reply(550)), Outcome::Rejected, "{}", phase.as_str());
        }
        for phase in [MailPhase::Greeting, MailPhase::Encrypt, MailPhase::Authenticate] {
            assert_eq!(mail(phase, Ending::Reply(554)), Outcome::Retry, "{}", phase.as_str());
        }
    }

    #[test]
    fn what_we_refuse_ourselves_is_rejected() {
        assert_eq!(mail(MailPhase::Prepare, Ending::Refused), Outcome::Rejected);
        assert_eq!(webhook(WebhookPhase::Connect, Ending::Refused), Outcome::Rejected);
    }

    #[test]
    fn a_webhook_that_never_left_may_be_tried_again_and_one_that_may_have_left_is_unknown() {
        assert_eq!(webhook(WebhookPhase::Connect, Ending::Lost), Outcome::Retry);
        assert_eq!(webhook(WebhookPhase::Request, Ending::Lost), Outcome::Unknown);
    }

    #[test]
    fn every_http_status_has_its_meaning() {
        for status in 100..=999 {
            let expected = match status {
                200..=299 => Outcome::Accepted,
                429 => Outcome::Retry,
                408 => Outcome::Unknown,
                300..=499 => Outcome::Rejected,
                _ => Outcome::Unknown,
            };
            assert_eq!(webhook(WebhookPhase::Request, Ending::Reply(status)), expected, "{status}");
        }
        assert_eq!(webhook(WebhookPhase::Connect, Ending::Reply(408)), Outcome::Retry);
    }
}
