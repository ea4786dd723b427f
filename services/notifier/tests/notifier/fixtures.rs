//! Facts, notifications and connections to begin with.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use deadpool_postgres::{Manager, Pool};
use jiff::Timestamp;
use tokio_postgres::NoTls;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use waybill_contract::{ExportSnapshot, Fact};
use waybill_domain::export::{Channel, NotifyTarget};
use waybill_domain::ids::{CandidateId, ExportId, NotificationId, ServiceAccountId, TenantId};
use waybill_domain::job::{FactKind, JobState};
use waybill_notifier::{
    Channels, Deadline, GuardedResolver, Limits, MailServer, Pace, Policy, Report, Sent, Tls, WebhookSender,
};
use waybill_runtime::Secret;
use waybill_store::notification::Claimed;
use waybill_testkit::TestDatabase;

/// More than any test needs, and less than a person waits.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);
/// For tests in which the deadline is what ends the attempt.
pub(crate) const SHORT: Duration = Duration::from_millis(400);

pub(crate) fn master() -> Secret {
    Secret::new("a master secret for tests")
}

pub(crate) fn limits(term: Duration) -> Limits {
    Limits { deadline: Deadline::after(term), cut_off: CancellationToken::new() }
}

pub(crate) fn claimed(channel: Channel, target: &str) -> Claimed {
    Claimed {
        notification_id: NotificationId::from_uuid(Uuid::new_v4()),
        attempt: 1,
        channel,
        target: target.to_owned(),
        tenant_id: TenantId::from_uuid(Uuid::from_u128(1)),
        export_id: ExportId::from_uuid(Uuid::from_u128(2)),
        subject: (channel == Channel::Email).then(|| "匯出完成".to_owned()),
        body: match channel {
            Channel::Email => "訂單已完成\r\n.\r\nand a line with one dot before\r\n".to_owned(),
            Channel::Webhook => r#"{"type":"waybill.export.succeeded","data":{"name":"訂單"}}"#.to_owned(),
        },
        created_at: Timestamp::from_second(1_800_000_000).expect("a time"),
        failures: 0,
        tried_for: Duration::ZERO,
    }
}

pub(crate) fn mail_server(address: SocketAddr) -> MailServer {
    MailServer {
        host: address.ip().to_string(),
        port: address.port(),
        from: "Waybill <waybill@example.org>".parse().expect("a mailbox"),
        tls: Tls::None,
        login: None,
    }
}

pub(crate) fn webhook_sender(allow_private_networks: bool) -> WebhookSender {
    WebhookSender::new(master(), GuardedResolver { allow_private_networks }).expect("an HTTP client")
}

/// The report of an attempt that came to an end.
pub(crate) fn ended(sent: Sent) -> Report {
    match sent {
        Sent::Ended(report) => report,
        Sent::TooLate => panic!("the deadline passed before the first byte"),
    }
}

/// The outcome of an export that tells `targets`.
pub(crate) fn succeeded(event_id: &str, targets: &[(Channel, String)]) -> Fact {
    let at = Timestamp::from_second(1_800_000_000).expect("a time");
    let id = Uuid::from_u128(7);
    Fact {
        event_id: event_id.to_owned(),
        source: "urn:waybill:exports".to_owned(),
        kind: FactKind::Succeeded,
        time: at,
        export: ExportSnapshot {
            export_id: ExportId::from_uuid(id),
            tenant_id: TenantId::from_uuid(id),
            service_account_id: ServiceAccountId::from_uuid(id),
            version: 2,
            state: JobState::Succeeded,
            dataset: "orders".to_owned(),
            format: "csv".to_owned(),
            name: None,
            labels: BTreeMap::new(),
            notify: targets
                .iter()
                .map(|(channel, target)| NotifyTarget { channel: *channel, target: target.clone() })
                .collect(),
            fence: 1,
            rows: Some(3),
            bytes: Some(99),
            sha256: Some("ab".repeat(32)),
            result_id: Some(CandidateId::from_uuid(id)),
            failure_code: None,
            failure_detail: None,
            accepted_at: at,
            finished_at: Some(at),
        },
    }
}

/// A pool with the privileges of the notifier's role and no more.
pub(crate) fn pool(database: &TestDatabase) -> Pool {
    let config = database.role_url("notifier").parse().expect("a connection string");
    Pool::builder(Manager::new(config, NoTls)).max_size(8).build().expect("a pool")
}

pub(crate) fn pace(send_deadline: Duration) -> Pace {
    Pace {
        poll_interval: Duration::from_millis(50),
        send_deadline,
        concurrency: 4,
        retry: Policy {
            attempts_max: 2,
            term: AMPLE,
            delay_first: Duration::from_millis(1),
            delay_max: Duration::from_millis(1),
        },
    }
}

pub(crate) fn mail_channel(address: SocketAddr) -> Channels {
    Channels { email: Some(mail_server(address)), webhook: Some(webhook_sender(true)) }
}
