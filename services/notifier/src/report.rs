//! What an attempt saw, as its channel reports it and as the attempt's row keeps it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::codes;
use crate::outcome::{Ending, Outcome, Phase, outcome};
use crate::retry::Fault;

/// How much of a reply or a response body is kept, in bytes.
pub(crate) const EXCERPT_BYTES_MAX: usize = 4_096;

/// What one attempt saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How far it came.
    pub phase: Phase,
    /// How it ended.
    pub ending: Ending,
    /// The code of the reason, where there is a page about it.
    pub code: Option<&'static str>,
    /// What went wrong or what was refused, for a person; empty when nothing did.
    pub detail: String,
    /// The SMTP reply's text or the beginning of the response body, at most [`EXCERPT_BYTES_MAX`] bytes.
    pub reply: Option<String>,
    /// How long the receiver asked us to wait.
    pub retry_after: Option<Duration>,
}

/// How one attempt went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// It came to an end that can be recorded.
    Ended(Report),
    /// Its deadline had passed before the first byte: nothing left, and the sweeper decides.
    TooLate,
}

impl Report {
    /// The end of an attempt that the other side did not answer.
    pub fn lost(phase: Phase, detail: impl Into<String>) -> Self {
        Self {
            phase,
            ending: Ending::Lost,
            code: None,
            detail: detail.into(),
            reply: None,
            retry_after: None,
        }
    }

    /// An attempt that we refused ourselves before anything left.
    pub fn refused(phase: Phase, code: &'static str, detail: impl Into<String>) -> Self {
        Self { ending: Ending::Refused, code: Some(code), ..Self::lost(phase, detail) }
    }

    /// An answer of the other side.
    pub fn reply(phase: Phase, code: u16, reply: impl Into<String>) -> Self {
        let reply = excerpt(&reply.into());
        Self { ending: Ending::Reply(code), reply: Some(reply), ..Self::lost(phase, "") }
    }

    /// What this end means.
    pub fn outcome(&self) -> Outcome {
        outcome(self.phase, self.ending)
    }

    /// Whose the failure is, if it is one that passes.
    pub fn fault(&self) -> Fault {
        match self.code {
            Some(codes::NOTIFICATION_CHANNEL_UNREACHABLE | codes::NOTIFICATION_CHANNEL_NOT_CONFIGURED) => {
                Fault::Channel
            }
            Some(_) | None => Fault::Own,
        }
    }

    /// The evidence for the attempt's row. `reason` is the code of the final reason, if there is one.
    pub fn evidence(&self, elapsed: Duration, reason: Option<&str>) -> Value {
        let reply_code = match self.ending {
            Ending::Reply(code) => Some(code),
            Ending::Lost | Ending::Refused => None,
        };
        json!({
            "phase": self.phase.as_str(),
            "ending": match self.ending {
                Ending::Reply(_) => "reply",
                Ending::Lost => "lost",
                Ending::Refused => "refused",
            },
            "reply_code": reply_code,
            "reply": self.reply,
            "detail": self.detail,
            "reason": reason.or(self.code),
            "retry_after_seconds": self.retry_after.map(|after| after.as_secs()),
            "elapsed_ms": u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// The beginning of a text, without the NUL that jsonb cannot hold.
pub(crate) fn excerpt(text: &str) -> String {
    let mut kept = String::new();
    for character in text.chars().filter(|character| *character != '\0') {
        if kept.len() + character.len_utf8() > EXCERPT_BYTES_MAX {
            break;
        }
        kept.push(character);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::MailPhase;

    #[test]
    fn a_long_reply_is_kept_up_to_its_bound_and_on_a_characters_edge() {
        let report = Report::reply(Phase::Mail(MailPhase::FinalDot), 250, "匯".repeat(EXCERPT_BYTES_MAX));
        let kept = report.reply.unwrap_or_default();
        assert!(kept.len() <= EXCERPT_BYTES_MAX && kept.len() > EXCERPT_BYTES_MAX - 3);
    }

    #[test]
    fn evidence_never_holds_what_jsonb_cannot() {
        let report = Report::reply(Phase::Mail(MailPhase::FinalDot), 250, "a\0b");
        assert_eq!(report.evidence(Duration::ZERO, None)["reply"], "ab");
    }
}
