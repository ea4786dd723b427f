//! An export as callers see it.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use waybill_domain::hex;
use waybill_domain::job::JobState;
use waybill_store::job::{JobView, Progress};

/// The body that stands for an export. Every member is always there; what has not come to be is `null`.
pub(crate) fn representation(view: &JobView) -> Value {
    let job = &view.job;
    let spec = &job.spec;
    let path = format!("/v1/exports/{}", job.export_id);
    let content = (job.lifecycle.state == JobState::Succeeded).then(|| format!("{path}/content"));
    json!({
        "export_id": job.export_id,
        "state": job.lifecycle.state.as_str(),
        "version": job.lifecycle.version,
        "dataset": job.dataset,
        "dataset_revision": spec.dataset_revision,
        "format": spec.format.as_str(),
        "options": spec.options,
        "compression": spec.compression.as_str(),
        "columns": spec.columns,
        "filters": spec.filters,
        "order": spec.order,
        "name": job.name,
        "labels": job.labels,
        "notify": job.notify,
        "accepted_at": job.accepted_at,
        "finished_at": job.finished_at,
        "expires_at": job.lifecycle.expires_at,
        "retry_of": job.retry_of,
        "progress": view.progress.as_ref().map(progress),
        "result": view.result.as_ref().map(|result| json!({
            "rows": result.rows,
            "bytes": result.bytes,
            "sha256": hex(&result.sha256),
            "as_of": result.as_of.map(|as_of| json!({
                "lsn": as_of.lsn.to_string(),
                "at": as_of.at,
            })),
        })),
        "failure": job.failure_code.as_ref().map(|code| json!({
            "code": code,
            "detail": job.failure_detail,
        })),
        "links": {
            "self": path,
            "content": content,
            "timeline": format!("{path}/timeline"),
        },
    })
}

/// How far the latest attempt is, how fast it has been so far, and when it will be done at that pace.
fn progress(progress: &Progress) -> Value {
    let rate = rows_per_second(progress);
    json!({
        "fence": progress.fence,
        "rows_done": progress.rows_done,
        "rows_estimated": progress.rows_estimated,
        "bytes_done": progress.bytes_done,
        "rows_per_second": rate.map(f64::round),
        "heartbeat_at": progress.heartbeat_at,
        "done_estimated_at": rate.and_then(|rate| done_estimated_at(progress, rate)),
    })
}

fn rows_per_second(progress: &Progress) -> Option<f64> {
    let seconds = progress.heartbeat_at.duration_since(progress.claimed_at).as_secs_f64();
    (progress.rows_done > 0 && seconds > 0.0).then(|| as_f64(progress.rows_done) / seconds)
}

/// `None` where the planner expected no more rows than there are already: then nobody knows.
fn done_estimated_at(progress: &Progress, rows_per_second: f64) -> Option<Timestamp> {
    let left = progress.rows_estimated?.checked_sub(progress.rows_done).filter(|left| *left > 0)?;
    let seconds = SignedDuration::try_from_secs_f64(as_f64(left) / rows_per_second).ok()?;
    progress.heartbeat_at.checked_add(seconds).ok()
}

#[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 15 digits")]
const fn as_f64(rows: i64) -> f64 {
    rows as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rows_done: i64, rows_estimated: Option<i64>, seconds: i64) -> Value {
        let heartbeat_at = Timestamp::from_second(seconds).unwrap();
        let claimed_at = Timestamp::UNIX_EPOCH;
        progress(&Progress { fence: 1, claimed_at, heartbeat_at, rows_done, rows_estimated, bytes_done: 0 })
    }

    #[test]
    fn at_the_pace_so_far_an_estimate_says_when() {
        let shown = at(1_000, Some(5_000), 10);
        assert_eq!(
            (&shown["rows_per_second"], &shown["done_estimated_at"]),
            (&json!(100.0), &json!("1970-01-01T00:00:50Z"))
        );
    }

    #[test]
    fn nobody_says_when_without_a_pace_or_beyond_the_estimate() {
        for (rows_done, rows_estimated) in [(0, Some(5_000)), (1_000, None), (5_001, Some(5_000))] {
            assert_eq!(at(rows_done, rows_estimated, 10)["done_estimated_at"], Value::Null);
        }
        assert_eq!(at(7, Some(9), 0)["rows_per_second"], Value::Null);
    }
}
