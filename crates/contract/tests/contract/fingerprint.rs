//! One fact has one fingerprint, and another fact another one.

use std::fmt::Write;

use proptest::prelude::*;
use waybill_contract::{ExportSnapshot, Fact, Fingerprint, decode_fact};
use waybill_domain::export::{Channel, NotifyTarget};
use waybill_domain::ids::{CandidateId, ExportId, ServiceAccountId, TenantId};
use waybill_domain::job::{FactKind, JobState};

use crate::examples::{any_fact, headers, schemas, succeeded};

/// What is stored for years: if this fails, the list was changed that never changes.
#[test]
fn the_first_list_is_frozen() {
    let mut hex = String::new();
    for byte in Fingerprint::of(&succeeded()).to_bytes() {
        write!(hex, "{byte:02x}").unwrap();
    }
    assert_eq!(hex, "0129a2ed455cbb42267f07c436044463c6f2ba6245281e12b6a4fab16fb42982c1");
}

#[test]
fn whatever_a_fact_says_counts_and_nothing_of_its_envelope() {
    let fact = succeeded();
    let fingerprint = Fingerprint::of(&fact);
    let mut other = fact.clone();
    other.event_id.push('x');
    other.source.push('x');
    other.time = "2027-01-01T00:00:00Z".parse().unwrap();
    assert_eq!(Fingerprint::of(&other), fingerprint);

    let id = |prefix: &str| format!("{prefix}_{:032x}", 7);
    type Change = Box<dyn Fn(&mut ExportSnapshot)>;
    let changes: Vec<(&str, Change)> = vec![
        (
            "export_id",
            Box::new({
                let id = id("exp");
                move |e| e.export_id = ExportId::parse(&id).unwrap()
            }),
        ),
        (
            "tenant_id",
            Box::new({
                let id = id("ten");
                move |e| e.tenant_id = TenantId::parse(&id).unwrap()
            }),
        ),
        (
            "service_account_id",
            Box::new({
                let id = id("sva");
                move |e| e.service_account_id = ServiceAccountId::parse(&id).unwrap()
            }),
        ),
        ("version", Box::new(|e| e.version += 1)),
        ("state", Box::new(|e| e.state = JobState::Expired)),
        ("dataset", Box::new(|e| e.dataset.push('x'))),
        ("format", Box::new(|e| e.format.push('x'))),
        ("name", Box::new(|e| e.name = None)),
        ("labels", Box::new(|e| drop(e.labels.insert("b".to_owned(), String::new())))),
        (
            "notify",
            Box::new(|e| {
                e.notify.push(NotifyTarget { channel: Channel::Webhook, target: "https://a".to_owned() });
            }),
        ),
        ("fence", Box::new(|e| e.fence += 1)),
        ("rows", Box::new(|e| e.rows = Some(4))),
        ("bytes", Box::new(|e| e.bytes = None)),
        ("sha256", Box::new(|e| e.sha256 = None)),
        (
            "result_id",
            Box::new({
                let id = id("can");
                move |e| e.result_id = Some(CandidateId::parse(&id).unwrap())
            }),
        ),
        ("failure_code", Box::new(|e| e.failure_code = Some(String::new()))),
        ("failure_detail", Box::new(|e| e.failure_detail = Some(String::new()))),
        ("accepted_at", Box::new(|e| e.accepted_at = "2026-03-01T12:00:00.000001Z".parse().unwrap())),
        ("finished_at", Box::new(|e| e.finished_at = None)),
    ];
    for (field, change) in changes {
        let mut changed = fact.clone();
        change(&mut changed.export);
        assert_ne!(Fingerprint::of(&changed), fingerprint, "{field}");
    }
    let renamed = Fact { kind: FactKind::Expired, ..fact };
    assert_ne!(Fingerprint::of(&renamed), fingerprint, "the type");
}

#[test]
fn texts_that_run_into_each_other_are_told_apart() {
    let of = |dataset: &str, format: &str| {
        let mut fact = succeeded();
        (fact.export.dataset, fact.export.format) = (dataset.to_owned(), format.to_owned());
        Fingerprint::of(&fact)
    };
    assert_ne!(of("orders", "csv"), of("orde", "rscsv"));
}

proptest! {
    #[test]
    fn a_fact_that_was_read_has_the_fingerprint_of_the_one_that_was_written(fact in any_fact()) {
        let message = fact.encode(schemas()).unwrap();
        let read = decode_fact(schemas(), headers(&message), Some(&message.payload)).unwrap();
        prop_assert_eq!(Fingerprint::of(&read), Fingerprint::of(&fact));
    }
}
