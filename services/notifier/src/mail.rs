//! One notification as a mail: the same bytes on every attempt.
//!
//! Everything comes from the notification's row, the date included. Header values are encoded by the library, which
//! lets no line break through. Deliberately absent: links; a mail names the export and says where to ask for it.

use std::str::FromStr as _;
use std::time::SystemTime;

use lettre::Address;
use lettre::address::{AddressError, Envelope};
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use waybill_store::notification::Claimed;

/// A mail ready to be handed to a server.
#[derive(Debug)]
pub(crate) struct Mail {
    /// Who sends and who receives, for the server.
    pub(crate) envelope: Envelope,
    /// Headers and text as they go over the wire, before dots are stuffed.
    pub(crate) bytes: Vec<u8>,
}

/// Why a notification gives no mail.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MailError {
    #[error("the target is not a mail address")]
    Target(#[source] AddressError),
    #[error("the mail cannot be built")]
    Message(#[from] lettre::error::Error),
    #[error("a header of ours has no valid name")]
    HeaderName,
}

/// Builds the mail of a notification.
///
/// # Errors
/// The target is no address, or the content makes no message.
pub(crate) fn compose(claimed: &Claimed, from: &Mailbox) -> Result<Mail, MailError> {
    let to = Address::from_str(&claimed.target).map_err(MailError::Target)?;
    let date = SystemTime::from(claimed.created_at);
    let message_id = format!("<{}@{}>", claimed.notification_id, from.email.domain());
    let message = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(claimed.subject.clone().unwrap_or_default())
        .date(date)
        .message_id(Some(message_id))
        // So that no vacation responder answers (RFC 3834, section 5).
        .raw_header(raw("Auto-Submitted", "auto-generated")?)
        .header(ContentType::TEXT_PLAIN)
        .body(claimed.body.clone())?;
    Ok(Mail { envelope: message.envelope().clone(), bytes: message.formatted() })
}

fn raw(name: &'static str, value: &str) -> Result<HeaderValue, MailError> {
    let name = HeaderName::new_from_ascii(name.to_owned()).ok().ok_or(MailError::HeaderName)?;
    Ok(HeaderValue::new(name, value.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use uuid::Uuid;
    use waybill_domain::export::Channel;
    use waybill_domain::ids::{ExportId, NotificationId, TenantId};

    use super::*;

    fn claimed(target: &str, subject: &str, body: &str) -> Claimed {
        Claimed {
            notification_id: NotificationId::from_uuid(Uuid::from_u128(1)),
            attempt: 1,
            channel: Channel::Email,
            target: target.to_owned(),
            tenant_id: TenantId::from_uuid(Uuid::from_u128(2)),
            export_id: ExportId::from_uuid(Uuid::from_u128(3)),
            subject: Some(subject.to_owned()),
            body: body.to_owned(),
            created_at: Timestamp::from_second(1_800_000_000).unwrap(),
            failures: 0,
            tried_for: Duration::ZERO,
        }
    }

    fn from() -> Mailbox {
        "Waybill <waybill@example.org>".parse().unwrap()
    }

    #[test]
    fn a_mail_is_the_same_bytes_every_time() {
        let claimed = claimed("ann@example.com", "匯出完成", "訂單 📦 已完成\n");
        let first = compose(&claimed, &from()).unwrap().bytes;
        assert_eq!(first, compose(&claimed, &from()).unwrap().bytes);
        assert!(first.is_ascii(), "a server without 8BITMIME must be able to take it");
    }

    #[test]
    fn a_subject_with_line_breaks_adds_no_header() {
        let claimed = claimed("ann@example.com", "done\r\nBcc: eve@example.com\r\n\r\nhello", "text");
        let bytes = compose(&claimed, &from()).unwrap().bytes;
        let text = String::from_utf8(bytes).unwrap();
        let head = text.split("\r\n\r\n").next().unwrap();
        assert!(!head.lines().any(|line| line.starts_with("Bcc:")), "{head}");
    }

    #[test]
    fn a_target_with_a_line_break_is_refused() {
        assert!(compose(&claimed("ann@example.com\r\nRCPT TO:<eve@example.com>", "", ""), &from()).is_err());
    }

    #[test]
    fn the_message_id_is_the_notifications_own() {
        let bytes = compose(&claimed("ann@example.com", "", ""), &from()).unwrap().bytes;
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("Message-ID: <ntf_00000000000000000000000000000001@example.org>"), "{text}");
    }
}
