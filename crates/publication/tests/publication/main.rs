//! A fact or a command is in the outbox exactly when the change that it is about is committed.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod house;

use jiff::Timestamp;
use waybill_contract::{CommandReason, EventKey, Schemas, decode_command, decode_fact};
use waybill_domain::job::{FactKind, JobState, Lifecycle};
use waybill_publication::{PublicationError, Publisher};
use waybill_store::candidate::{Candidate, CandidateState};
use waybill_store::job::Job;

use crate::house::{House, OutboxRow, SOURCE};

fn publisher() -> Publisher {
    Publisher::new(SOURCE, "test-").unwrap()
}

#[tokio::test]
async fn a_fact_carries_the_whole_job_and_leaves_its_row_beside_the_outbox() {
    let house = House::new().await;
    let (mut api, job) = (house.database.role("api").await, house.job().await);
    let tx = api.transaction().await.unwrap();
    let event_id = publisher().fact(&tx, &job, None, FactKind::Requested, house.accepted_at).await.unwrap();
    tx.commit().await.unwrap();

    let [row] = house.outbox().await.try_into().unwrap();
    assert_eq!(row.topic, "test-waybill.export.events");
    assert_eq!(row.key, job.export_id.as_str().as_bytes());
    assert_eq!(row.event_id, event_id);
    let fact = decode_fact(&Schemas::embedded().unwrap(), row.headers(), Some(&row.payload)).unwrap();
    assert_eq!(fact.event_key(), EventKey { source: SOURCE.to_owned(), id: event_id.clone() });
    assert_eq!((fact.kind, fact.time), (FactKind::Requested, house.accepted_at));
    let export = fact.export;
    assert_eq!((export.export_id, export.tenant_id), (job.export_id, job.tenant_id));
    assert_eq!(export.service_account_id, job.service_account_id);
    assert_eq!((export.version, export.fence, export.state), (1, 0, JobState::Pending));
    assert_eq!(
        (export.dataset, export.format.as_str(), export.name),
        (job.dataset, job.spec.format.as_str(), job.name)
    );
    assert_eq!((export.labels, export.notify), (job.labels, job.notify));
    assert_eq!((export.accepted_at, export.finished_at), (job.accepted_at, None));
    assert_eq!((export.result_id, export.rows, export.bytes, export.sha256), (None, None, None, None));
    assert_eq!(house.facts().await, [(1, event_id, "waybill.export.requested".to_owned(), row.seq)]);
}

#[tokio::test]
async fn a_command_leaves_its_row_beside_the_outbox() {
    let house = House::new().await;
    let (mut reconciler, job) = (house.database.role("reconciler").await, house.job().await);
    let tx = reconciler.transaction().await.unwrap();
    let now = house.accepted_at;
    let command_id =
        publisher().command(&tx, &job.export_id, &job.tenant_id, CommandReason::Overdue, now).await.unwrap();
    tx.commit().await.unwrap();

    let [row] = house.outbox().await.try_into().unwrap();
    assert_eq!(row.topic, "test-waybill.export.commands");
    assert_eq!(row.key, job.export_id.as_str().as_bytes());
    let command = decode_command(&Schemas::embedded().unwrap(), row.headers(), Some(&row.payload)).unwrap();
    assert_eq!((command.export_id, command.tenant_id), (job.export_id, job.tenant_id));
    assert_eq!((command.command_id, command.reason), (command_id.clone(), CommandReason::Overdue));
    assert_eq!(house.commands().await, [(command_id, "overdue".to_owned(), row.seq)]);
}

#[tokio::test]
async fn nothing_is_published_by_a_transaction_that_rolls_back() {
    let house = House::new().await;
    let (mut api, job) = (house.database.role("api").await, house.job().await);
    let tx = api.transaction().await.unwrap();
    let now = house.accepted_at;
    publisher().fact(&tx, &job, None, FactKind::Requested, now).await.unwrap();
    publisher().command(&tx, &job.export_id, &job.tenant_id, CommandReason::Accepted, now).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(house.outbox().await, Vec::<OutboxRow>::new());
    assert!(house.facts().await.is_empty() && house.commands().await.is_empty());
}

#[tokio::test]
async fn one_version_is_published_once() {
    let house = House::new().await;
    let (mut api, job) = (house.database.role("api").await, house.job().await);
    for attempt in 1..=2 {
        let tx = api.transaction().await.unwrap();
        let published = publisher().fact(&tx, &job, None, FactKind::Requested, house.accepted_at).await;
        if attempt == 1 {
            published.unwrap();
            tx.commit().await.unwrap();
        } else {
            let error = published.unwrap_err();
            let code = error.postgres().and_then(tokio_postgres::Error::code);
            assert_eq!(code, Some(&tokio_postgres::error::SqlState::UNIQUE_VIOLATION));
        }
    }
    assert_eq!((house.outbox().await.len(), house.facts().await.len()), (1, 1));
}

#[tokio::test]
async fn only_the_selected_candidate_is_published_as_the_result() {
    let house = House::new().await;
    let (mut worker, mut job) = (house.database.role("worker").await, house.job().await);
    let candidate = Candidate {
        candidate_id: house.candidate_id(1),
        export_id: job.export_id.clone(),
        fence: 1,
        object_key: "exports/a/b/1-c".to_owned(),
        upload_id: None,
        state: CandidateState::Selected,
        rows: Some(3),
        bytes: Some(120),
        sha256: Some(vec![0xab; 32]),
        as_of: None,
        created_at: house.accepted_at,
        verified_at: Some(house.accepted_at),
    };
    job.lifecycle =
        Lifecycle { state: JobState::Succeeded, version: 2, fence: 1, due_at: None, ..job.lifecycle };
    job.finished_at = Some(house.accepted_at);
    let tx = worker.transaction().await.unwrap();
    let publish = async |job: &Job, result: Option<&Candidate>| {
        publisher().fact(&tx, job, result, FactKind::Succeeded, Timestamp::UNIX_EPOCH).await
    };
    for selected in [None, Some(house.candidate_id(2))] {
        job.result_candidate_id = selected;
        let refused = publish(&job, Some(&candidate)).await;
        assert!(matches!(refused, Err(PublicationError::NotTheResult { .. })));
    }
    let without = publish(&job, None).await;
    assert!(matches!(without, Err(PublicationError::NotTheResult { .. })));
    job.result_candidate_id = Some(house.candidate_id(1));
    publish(&job, Some(&candidate)).await.unwrap();
    tx.commit().await.unwrap();

    let [row] = house.outbox().await.try_into().unwrap();
    let fact = decode_fact(&Schemas::embedded().unwrap(), row.headers(), Some(&row.payload)).unwrap();
    assert_eq!((fact.export.rows, fact.export.bytes), (Some(3), Some(120)));
    assert_eq!(fact.export.sha256, Some("ab".repeat(32)));
    assert_eq!(fact.export.result_id, Some(house.candidate_id(1)));
}

#[test]
fn a_source_or_a_prefix_that_no_event_could_have_is_refused_at_the_start() {
    assert!(matches!(Publisher::new("two words", ""), Err(PublicationError::Source(_))));
    assert!(matches!(Publisher::new("", ""), Err(PublicationError::Source(_))));
    assert!(matches!(Publisher::new(SOURCE, "a b"), Err(PublicationError::Topic(_))));
    assert!(matches!(Publisher::new(SOURCE, &"a".repeat(240)), Err(PublicationError::Topic(_))));
}
