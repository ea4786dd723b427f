//! Facts and records for the tests, plain ones and arbitrary ones.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use waybill_contract::{CommandReason, ExportCommand, ExportSnapshot, Fact, Message, Schemas};
use waybill_domain::export::{Channel, NotifyTarget};
use waybill_domain::ids::{CandidateId, ExportId, ServiceAccountId, TenantId};
use waybill_domain::job::{FactKind, JobState};

pub(crate) const EXPORT: &str = "exp_0195f5b0c0de7000a000000000000001";

pub(crate) fn schemas() -> &'static Schemas {
    static EMBEDDED: LazyLock<Schemas> = LazyLock::new(|| Schemas::embedded().unwrap());
    &EMBEDDED
}

/// The succeeded export of `docs/contract.md`.
pub(crate) fn succeeded() -> Fact {
    Fact {
        event_id: "evt_0195f5b0c0de7000a000000000000004".to_owned(),
        source: "urn:waybill:exports".to_owned(),
        kind: FactKind::Succeeded,
        time: "2026-03-01T12:00:02.5Z".parse().unwrap(),
        export: ExportSnapshot {
            export_id: ExportId::parse(EXPORT).unwrap(),
            tenant_id: TenantId::parse("ten_0195f5b0c0de7000a000000000000002").unwrap(),
            service_account_id: ServiceAccountId::parse("sva_0195f5b0c0de7000a000000000000003").unwrap(),
            version: 2,
            state: JobState::Succeeded,
            dataset: "orders".to_owned(),
            format: "csv".to_owned(),
            name: Some("三月訂單".to_owned()),
            labels: BTreeMap::from([("team".to_owned(), "sales".to_owned())]),
            notify: vec![NotifyTarget { channel: Channel::Email, target: "ops@example.com".to_owned() }],
            fence: 1,
            rows: Some(3),
            bytes: Some(120),
            sha256: Some("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned()),
            result_id: Some(CandidateId::parse("can_0195f5b0c0de7000a000000000000005").unwrap()),
            failure_code: None,
            failure_detail: None,
            accepted_at: "2026-03-01T12:00:00Z".parse().unwrap(),
            finished_at: Some("2026-03-01T12:00:02.5Z".parse().unwrap()),
        },
    }
}

pub(crate) fn command() -> ExportCommand {
    ExportCommand {
        command_id: "cmd_0195f5b0c0de7000a000000000000006".to_owned(),
        source: "urn:waybill:exports".to_owned(),
        time: "2026-03-01T12:00:00Z".parse().unwrap(),
        export_id: ExportId::parse(EXPORT).unwrap(),
        tenant_id: TenantId::parse("ten_0195f5b0c0de7000a000000000000002").unwrap(),
        reason: CommandReason::Accepted,
    }
}

/// A message's headers as a consumer has them.
pub(crate) fn headers(message: &Message) -> Vec<(&str, Option<&[u8]>)> {
    message.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect()
}

prop_compose! {
    /// Any text that the contract lets through: everything but a NUL.
    fn text()(text in "[^\u{0}]{0,24}") -> String { text }
}

prop_compose! {
    fn time()(microsecond in -62_135_596_800_000_000_i64..=253_402_207_200_000_000) -> Timestamp {
        Timestamp::from_microsecond(microsecond).unwrap()
    }
}

fn target() -> impl Strategy<Value = NotifyTarget> {
    (select(Channel::ALL.as_slice()), text()).prop_map(|(channel, target)| NotifyTarget { channel, target })
}

prop_compose! {
    fn result()(
        id in any::<u128>(),
        rows in 0..=i64::MAX,
        bytes in 0..=i64::MAX,
        sha256 in "[0-9a-f]{64}",
    ) -> (CandidateId, i64, i64, String) {
        (CandidateId::parse(&format!("can_{id:032x}")).unwrap(), rows, bytes, sha256)
    }
}

prop_compose! {
    /// Any fact that may be published.
    pub(crate) fn any_fact()(
        (event_id, source) in ("[!-~]{1,64}", "[a-z]{1,8}:[a-zA-Z0-9/%._-]{0,32}"),
        kind in select(FactKind::ALL.as_slice()),
        (time, accepted_at, finished_at) in (time(), time(), time()),
        ids in any::<[u128; 3]>(),
        (version, fence) in (1..=i64::MAX, 0..=i64::MAX),
        (dataset, format, name) in ("[a-z][a-z0-9_-]{0,62}", "[a-z]{1,8}", option::of(text())),
        labels in btree_map(text(), text(), 0..6),
        notify in vec(target(), 0..4),
        (result, other_result) in (result(), option::of(result())),
        (failure_code, failure_detail) in (option::of("[a-z-]{1,20}"), option::of(text())),
    ) -> Fact {
        let state = match kind {
            FactKind::Requested => JobState::Pending,
            FactKind::Succeeded => JobState::Succeeded,
            FactKind::Failed => JobState::Failed,
            FactKind::Cancelled => JobState::Cancelled,
            FactKind::Expired => JobState::Expired,
            FactKind::Deleted => JobState::Deleted,
        };
        let result = if kind == FactKind::Succeeded { Some(result) } else { other_result };
        let failed = (kind == FactKind::Failed).then(|| "source-unreadable".to_owned());
        let export = ExportSnapshot {
            export_id: ExportId::parse(&format!("exp_{:032x}", ids[0])).unwrap(),
            tenant_id: TenantId::parse(&format!("ten_{:032x}", ids[1])).unwrap(),
            service_account_id: ServiceAccountId::parse(&format!("sva_{:032x}", ids[2])).unwrap(),
            version,
            state,
            dataset,
            format,
            name,
            labels,
            notify,
            fence,
            rows: result.as_ref().map(|result| result.1),
            bytes: result.as_ref().map(|result| result.2),
            sha256: result.as_ref().map(|result| result.3.clone()),
            result_id: result.map(|result| result.0),
            failure_code: failed.or(failure_code),
            failure_detail,
            accepted_at,
            finished_at: state.is_terminal().then_some(finished_at),
        };
        Fact { event_id, source, kind, time, export }
    }
}
