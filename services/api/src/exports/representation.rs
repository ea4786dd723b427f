//! An export as callers see it.

use serde_json::{Value, json};
use waybill_domain::hex;
use waybill_domain::job::JobState;
use waybill_store::job::JobView;

/// The body that stands for an export. Every member is always there; what has not come to be is `null`.
pub(crate) fn representation(view: &JobView) -> Value {
    let job = &view.job;
    let path = format!("/v1/exports/{}", job.export_id);
    let content = (job.lifecycle.state == JobState::Succeeded).then(|| format!("{path}/content"));
    json!({
        "export_id": job.export_id,
        "state": job.lifecycle.state.as_str(),
        "version": job.lifecycle.version,
        "dataset": job.dataset,
        "format": job.format,
        "columns": job.columns,
        "name": job.name,
        "labels": job.labels,
        "notify": job.notify,
        "accepted_at": job.accepted_at,
        "finished_at": job.finished_at,
        "expires_at": job.lifecycle.expires_at,
        "retry_of": job.retry_of,
        "progress": view.progress.map(|progress| json!({
            "fence": progress.fence,
            "rows_done": progress.rows_done,
            "rows_total": progress.rows_total,
            "bytes_done": progress.bytes_done,
        })),
        "result": view.result.as_ref().map(|result| json!({
            "rows": result.rows,
            "bytes": result.bytes,
            "sha256": hex(&result.sha256),
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
