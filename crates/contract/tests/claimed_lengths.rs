//! A length that the data only claims is not believed. Alone in its process, because it looks at the memory of all of it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::BTreeMap;

use waybill_contract::{CommandReason, ContractError, ExportCommand, ExportSnapshot, Fact, Message, Schemas};
use waybill_contract::{decode_command, decode_fact};
use waybill_domain::ids::{ExportId, ServiceAccountId, TenantId};
use waybill_domain::job::{FactKind, JobState};

/// What decoding a few hundred bytes may take at the most: the bound on one allocation, and room beside it.
const MEMORY_KIB_MAX: u64 = 4 * 1024;

const CLAIMS: [i64; 7] = [i64::MIN, -1, 1 << 19, 1 << 25, 1 << 29, 1 << 40, i64::MAX];

const NAME: &str = "the name before the labels";

fn export_id() -> ExportId {
    ExportId::parse("exp_0195f5b0c0de7000a000000000000001").unwrap()
}

fn tenant_id() -> TenantId {
    TenantId::parse("ten_0195f5b0c0de7000a000000000000002").unwrap()
}

fn command() -> ExportCommand {
    ExportCommand {
        command_id: "cmd_1".to_owned(),
        source: "urn:waybill:exports".to_owned(),
        time: "2026-03-01T12:00:00Z".parse().unwrap(),
        export_id: export_id(),
        tenant_id: tenant_id(),
        reason: CommandReason::Overdue,
    }
}

/// A fact with two empty collections, right after its name.
fn fact() -> Fact {
    Fact {
        event_id: "evt_1".to_owned(),
        source: "urn:waybill:exports".to_owned(),
        kind: FactKind::Requested,
        time: "2026-03-01T12:00:00Z".parse().unwrap(),
        export: ExportSnapshot {
            export_id: export_id(),
            tenant_id: tenant_id(),
            service_account_id: ServiceAccountId::parse("sva_0195f5b0c0de7000a000000000000003").unwrap(),
            version: 1,
            state: JobState::Pending,
            dataset: "orders".to_owned(),
            format: "csv".to_owned(),
            name: Some(NAME.to_owned()),
            labels: BTreeMap::new(),
            notify: Vec::new(),
            fence: 0,
            rows: None,
            bytes: None,
            sha256: None,
            result_id: None,
            failure_code: None,
            failure_detail: None,
            accepted_at: "2026-03-01T12:00:00Z".parse().unwrap(),
            finished_at: None,
        },
    }
}

fn headers(message: &Message) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
    message.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref()))
}

/// Avro's variable-length zigzag of a number.
fn zigzag(number: i64) -> Vec<u8> {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    let mut bytes = Vec::new();
    while rest > 0x7f {
        bytes.push((rest as u8 & 0x7f) | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// The most address space that this process ever had; 0 where there is no `/proc`. Not the resident memory: a zeroed
/// allocation that nobody touches takes none of that.
fn peak_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn refused<T>(what: &str, claimed: i64, decode: impl FnOnce() -> Result<T, ContractError>) {
    let before = peak_memory_kib();
    let result = decode();
    let taken = peak_memory_kib() - before;
    assert!(matches!(result, Err(ContractError::Malformed(_))), "{claimed} of {what} were read");
    assert!(taken < MEMORY_KIB_MAX, "a claim of {claimed} of {what} took {taken} KiB");
}

#[test]
fn a_length_or_a_count_that_is_only_claimed_takes_no_memory() {
    let schemas = Schemas::embedded().unwrap();
    let command = command().encode(&schemas).unwrap();
    let fact = fact().encode(&schemas).unwrap();
    let name_at = fact.payload.windows(NAME.len()).position(|window| window == NAME.as_bytes()).unwrap();
    let labels_at = name_at + NAME.len();
    let notify_at = labels_at + 1;
    assert_eq!(fact.payload[labels_at..=notify_at], [0, 0]);

    for claimed in CLAIMS {
        let payload = [&command.payload[..5], &zigzag(claimed), &command.payload[6..]].concat();
        refused("a text's bytes", claimed, || decode_command(&schemas, headers(&command), Some(&payload)));
        for (what, at) in [("labels", labels_at), ("targets", notify_at)] {
            let payload = [&fact.payload[..at], &zigzag(claimed), &fact.payload[at + 1..]].concat();
            refused(what, claimed, || decode_fact(&schemas, headers(&fact), Some(&payload)));
        }
    }
}
