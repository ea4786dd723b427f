use uuid::Uuid;
use waybill_domain::export::{Channel, Compression, Filters, Format, FormatOptions, NotifyTarget, Spec};
use waybill_domain::ids::{ExportId, ServiceAccountId, TenantId};
use waybill_domain::job::{JobState, Lifecycle};
use waybill_domain::retention::Kept;
use waybill_store::job::Job;
use waybill_store::timeline::{CandidateStep, FactStep, NotificationStep, SearchStep};

use super::*;

fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(1_800_000_000_000 + millisecond).unwrap()
}

fn job(state: JobState) -> Job {
    Job {
        export_id: ExportId::from_uuid(Uuid::from_u128(1)),
        tenant_id: TenantId::from_uuid(Uuid::from_u128(2)),
        service_account_id: ServiceAccountId::from_uuid(Uuid::from_u128(3)),
        dataset: "orders".to_owned(),
        spec: Spec {
            dataset_revision: 1,
            format: Format::Csv,
            options: FormatOptions::default(),
            compression: Compression::None,
            columns: vec!["id".to_owned()],
            filters: Filters::new(),
            order: None,
        },
        name: None,
        labels: std::collections::BTreeMap::new(),
        notify: vec![NotifyTarget { channel: Channel::Email, target: "a@example.org".to_owned() }],
        lifecycle: Lifecycle { state, ..Lifecycle::accepted(at(0), Kept::Always).next },
        retry_of: None,
        result_candidate_id: None,
        failure_code: None,
        failure_detail: None,
        accepted_at: at(0),
        finished_at: state.is_terminal().then(|| at(300)),
    }
}

fn command(written: i64, reason: &str) -> CommandStep {
    CommandStep {
        command_id: format!("cmd_{written}"),
        reason: reason.to_owned(),
        created_at: at(written),
        acknowledged_at: Some(at(written + 10)),
    }
}

fn attempt(
    fence: i64,
    state: AttemptState,
    claimed: i64,
    verified: Option<i64>,
    ended: Option<i64>,
) -> AttemptStep {
    AttemptStep {
        number: i32::try_from(fence).unwrap(),
        fence,
        worker: format!("worker-{fence}"),
        state,
        claimed_at: at(claimed),
        ended_at: ended.map(at),
        rows_done: 0,
        bytes_done: 0,
        error_code: None,
        error_detail: None,
        candidate: verified.map(|verified| CandidateStep {
            candidate_id: format!("can_{fence}"),
            rows: Some(5),
            bytes: Some(50),
            verified_at: Some(at(verified)),
        }),
    }
}

fn fact(version: i64, event_type: &str, acknowledged: Option<i64>) -> FactStep {
    FactStep {
        version,
        event_id: format!("evt_{version}"),
        event_type: event_type.to_owned(),
        created_at: at(0),
        acknowledged_at: acknowledged.map(at),
    }
}

fn pending() -> Evidence {
    Evidence {
        job: job(JobState::Pending),
        commands: vec![CommandStep { acknowledged_at: None, ..command(0, "accepted") }],
        attempts: Vec::new(),
        facts: vec![fact(1, "waybill.export.requested", None)],
        search: Some(SearchStep { version: 1, event_id: "evt_1".to_owned(), applied_at: at(15) }),
        stats: None,
        notifications: Vec::new(),
        unavailable: Vec::new(),
    }
}

/// A worker died after its upload, another one took over, and everybody knows of it.
fn taken_over() -> Evidence {
    Evidence {
        job: job(JobState::Succeeded),
        commands: vec![command(0, "accepted"), command(100, "overdue")],
        attempts: vec![
            attempt(1, AttemptState::Lost, 20, Some(50), Some(120)),
            attempt(2, AttemptState::Succeeded, 120, Some(290), Some(300)),
        ],
        facts: vec![
            fact(1, "waybill.export.requested", Some(10)),
            fact(2, "waybill.export.succeeded", Some(320)),
        ],
        search: Some(SearchStep { version: 2, event_id: "evt_2".to_owned(), applied_at: at(319) }),
        stats: Some(at(330)),
        notifications: vec![NotificationStep {
            notification_id: "ntf_1".to_owned(),
            event_id: "evt_2".to_owned(),
            channel: "email".to_owned(),
            target: "a@example.org".to_owned(),
            kind: "export.succeeded".to_owned(),
            state: "accepted".to_owned(),
            attempts: 1,
            created_at: at(325),
            last_attempt_at: Some(at(326)),
            settled_at: Some(at(350)),
        }],
        unavailable: Vec::new(),
    }
}

fn names(steps: &[Step]) -> Vec<&str> {
    steps.iter().map(|step| step.step).collect()
}

#[test]
fn a_pending_export_has_every_step_and_none_of_them_reached_but_the_first() {
    let steps = steps(&pending());
    assert_eq!(
        names(&steps),
        [
            "accepted",
            "command-acknowledged",
            "claimed",
            "candidate-verified",
            "result-selected",
            "fact-acknowledged",
            "search-applied",
            "stats-applied",
            "notified",
        ]
    );
    assert!(steps[1..].iter().all(|step| step.at.is_none()));
    let shown = serde_json::to_value(&steps[2]).unwrap();
    assert!(shown["at"].is_null() && shown.as_object().unwrap().contains_key("at"));
}

#[test]
fn a_takeover_shows_both_attempts_and_the_command_between_them() {
    let steps = steps(&taken_over());
    assert_eq!(
        names(&steps),
        [
            "accepted",
            "command-acknowledged",
            "claimed",
            "candidate-verified",
            "attempt-ended",
            "command-acknowledged",
            "claimed",
            "candidate-verified",
            "result-selected",
            "fact-acknowledged",
            "search-applied",
            "stats-applied",
            "notified",
        ]
    );
    assert_eq!(steps[4].details["state"], "lost");
    assert_eq!(steps[8].details["fence"], 2);
    assert_eq!(steps[8].details["candidate_id"], "can_2");
}

#[test]
fn each_step_says_how_long_after_the_one_it_follows_it_came() {
    let steps = steps(&taken_over());
    let of = |name: &str| steps.iter().rfind(|step| step.step == name).unwrap();
    assert_eq!(of("result-selected").since_previous_ms, Some(10.0));
    assert_eq!(of("result-selected").since_accepted_ms, Some(300.0));
    assert_eq!(of("fact-acknowledged").since_previous_ms, Some(20.0));
    // Downstreams follow the fact, not one another; search was faster than the relay's note.
    assert_eq!(of("search-applied").since_previous_ms, Some(-1.0));
    assert_eq!(of("stats-applied").since_previous_ms, Some(10.0));
    assert_eq!(of("notified").since_previous_ms, Some(30.0));
    assert_eq!(of("accepted").since_previous_ms, None);
}

#[test]
fn an_older_version_in_search_is_not_the_outcome() {
    let mut evidence = taken_over();
    evidence.search = Some(SearchStep { version: 1, event_id: "evt_1".to_owned(), applied_at: at(15) });
    let steps = steps(&evidence);
    assert_eq!(steps.iter().find(|step| step.step == "search-applied").unwrap().at, None);
}

#[test]
fn a_failed_export_ends_in_its_failure() {
    let mut evidence = taken_over();
    evidence.job.lifecycle.state = JobState::Failed;
    evidence.job.failure_code = Some("dataset-changed".to_owned());
    evidence.facts[1] = fact(2, "waybill.export.failed", None);
    evidence.attempts.pop();
    let steps = steps(&evidence);
    let failed = steps.iter().find(|step| step.step == "failed").unwrap();
    assert_eq!(failed.details["code"], "dataset-changed");
    assert!(!names(&steps).contains(&"result-selected"));
}

#[test]
fn an_export_keeps_its_outcome_when_it_expires_and_is_deleted() {
    let mut evidence = taken_over();
    evidence.job.lifecycle.state = JobState::Deleted;
    evidence.facts.push(fact(3, "waybill.export.expired", Some(900)));
    evidence.facts.push(fact(4, "waybill.export.deleted", None));
    let steps = steps(&evidence);
    let names = names(&steps);
    assert!(names.contains(&"result-selected"));
    assert_eq!(names[names.len() - 2..], ["expired", "deleted"]);
    assert_eq!(steps.last().unwrap().details["version"], 4);
}
