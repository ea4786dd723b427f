//! What a fact says to people and to systems. Pure; rendered once, stored, and sent as stored.
//!
//! Deliberately absent: links that would open a file to whoever holds the message, and the failure's detail, which may
//! speak of the inside of the house.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::json;
use waybill_contract::Fact;
use waybill_domain::export::Channel;
use waybill_domain::job::FactKind;

/// What is sent for a fact over one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The mail's subject; none for a webhook.
    pub subject: Option<String>,
    /// The mail's text or the request's body.
    pub body: String,
}

/// The word for an outcome that somebody asked to be told about; none for a fact that is no outcome.
pub(crate) fn outcome_word(kind: FactKind) -> Option<&'static str> {
    match kind {
        FactKind::Succeeded => Some("succeeded"),
        FactKind::Failed => Some("failed"),
        FactKind::Cancelled => Some("been cancelled"),
        FactKind::Requested | FactKind::Expired | FactKind::Deleted => None,
    }
}

/// Renders a fact for a channel; none for a fact that is no outcome.
pub fn render(channel: Channel, fact: &Fact) -> Option<Content> {
    let word = outcome_word(fact.kind)?;
    Some(match channel {
        Channel::Email => mail(fact, word),
        Channel::Webhook => Content { subject: None, body: webhook(fact) },
    })
}

fn mail(fact: &Fact, word: &str) -> Content {
    let export = &fact.export;
    let called = one_line(export.name.as_deref().unwrap_or(&export.dataset));
    let mut lines = vec![
        format!("Your export has {word}."),
        String::new(),
        format!("Export:    {}", export.export_id),
        format!("Name:      {called}"),
        format!("Data set:  {} ({})", one_line(&export.dataset), one_line(&export.format)),
    ];
    lines.extend(export.rows.map(|rows| format!("Rows:      {rows}")));
    lines.extend(export.bytes.map(|bytes| format!("Size:      {bytes} bytes")));
    lines.extend(export.sha256.as_ref().map(|sha256| format!("SHA-256:   {sha256}")));
    lines.extend(export.failure_code.as_ref().map(|code| format!("Reason:    {}", one_line(code))));
    lines.extend(export.finished_at.map(|at| format!("Finished:  {}", second(at))));
    lines.push(String::new());
    if fact.kind == FactKind::Succeeded {
        lines.push("Fetch the file from the Waybill API with your own key:".to_owned());
        lines.push(format!("  GET /v1/exports/{}/content", export.export_id));
    } else {
        lines.push("See what happened from the Waybill API with your own key:".to_owned());
        lines.push(format!("  GET /v1/exports/{}", export.export_id));
    }
    lines.push("This message opens nothing by itself, so it may be passed on.".to_owned());
    let mut body = String::new();
    for line in lines {
        // Writing to a string cannot fail.
        let _ = write!(body, "{line}\r\n");
    }
    Content { subject: Some(format!("Export {called} has {word}")), body }
}

fn webhook(fact: &Fact) -> String {
    let export = &fact.export;
    json!({
        "type": fact.kind.type_name(),
        "timestamp": fact.time,
        "data": {
            "source": fact.source,
            "event_id": fact.event_id,
            "export_id": export.export_id,
            "tenant_id": export.tenant_id,
            "version": export.version,
            "state": export.state.as_str(),
            "dataset": export.dataset,
            "format": export.format,
            "name": export.name,
            "labels": export.labels,
            "rows": export.rows,
            "bytes": export.bytes,
            "sha256": export.sha256,
            "failure_code": export.failure_code,
            "accepted_at": export.accepted_at,
            "finished_at": export.finished_at,
        },
    })
    .to_string()
}

/// A caller's text as one line: what could break out of a header or a line becomes a space.
fn one_line(text: &str) -> String {
    let spaced = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    text.chars().map(|character| if spaced(character) { ' ' } else { character }).collect()
}

fn second(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use uuid::Uuid;
    use waybill_contract::ExportSnapshot;
    use waybill_domain::ids::{CandidateId, ExportId, ServiceAccountId, TenantId};
    use waybill_domain::job::JobState;

    use super::*;

    pub(crate) fn fact(kind: FactKind, state: JobState) -> Fact {
        let id = Uuid::from_u128(7);
        let done = kind == FactKind::Succeeded;
        Fact {
            event_id: "evt_1".to_owned(),
            source: "urn:waybill:exports".to_owned(),
            kind,
            time: Timestamp::from_second(1_800_000_000).unwrap(),
            export: ExportSnapshot {
                export_id: ExportId::from_uuid(id),
                tenant_id: TenantId::from_uuid(id),
                service_account_id: ServiceAccountId::from_uuid(id),
                version: 2,
                state,
                dataset: "orders".to_owned(),
                format: "csv".to_owned(),
                name: Some("三月訂單\r\nBcc: eve@example.com".to_owned()),
                labels: BTreeMap::new(),
                notify: Vec::new(),
                fence: 1,
                rows: done.then_some(3),
                bytes: done.then_some(99),
                sha256: done.then(|| "ab".repeat(32)),
                result_id: done.then(|| CandidateId::from_uuid(id)),
                failure_code: (kind == FactKind::Failed).then(|| "dataset-gone".to_owned()),
                failure_detail: Some("host db-7.internal refused".to_owned()),
                accepted_at: Timestamp::from_second(1_799_999_000).unwrap(),
                finished_at: Some(Timestamp::from_second(1_800_000_000).unwrap()),
            },
        }
    }

    #[test]
    fn only_outcomes_are_told() {
        for (kind, state, told) in [
            (FactKind::Requested, JobState::Pending, false),
            (FactKind::Succeeded, JobState::Succeeded, true),
            (FactKind::Failed, JobState::Failed, true),
            (FactKind::Cancelled, JobState::Cancelled, true),
            (FactKind::Expired, JobState::Expired, false),
            (FactKind::Deleted, JobState::Deleted, false),
        ] {
            for channel in Channel::ALL {
                assert_eq!(render(channel, &fact(kind, state)).is_some(), told, "{}", kind.type_name());
            }
        }
    }

    #[test]
    fn a_mail_names_the_export_and_holds_no_link_and_no_line_of_the_callers() {
        let fact = fact(FactKind::Succeeded, JobState::Succeeded);
        let content = render(Channel::Email, &fact).unwrap();
        let subject = content.subject.unwrap();
        assert!(!subject.contains(['\r', '\n']), "{subject}");
        assert!(content.body.contains(fact.export.export_id.as_str()));
        assert!(!content.body.contains("://"));
        assert!(!content.body.lines().any(|line| line.starts_with("Bcc")), "{}", content.body);
    }

    #[test]
    fn nothing_that_is_sent_tells_the_failures_detail() {
        for channel in Channel::ALL {
            let content = render(channel, &fact(FactKind::Failed, JobState::Failed)).unwrap();
            assert!(content.body.contains("dataset-gone"));
            assert!(!content.body.contains("db-7"), "{}", content.body);
        }
    }

    #[test]
    fn a_webhooks_body_has_the_parts_that_the_standard_names() {
        let content = render(Channel::Webhook, &fact(FactKind::Succeeded, JobState::Succeeded)).unwrap();
        let body: serde_json::Value = serde_json::from_str(&content.body).unwrap();
        assert_eq!(body["type"], "waybill.export.succeeded");
        assert!(body["timestamp"].is_string() && body["data"]["rows"] == 3);
    }
}
