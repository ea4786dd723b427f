//! In what a request differs from the export that its intent stands for.

use waybill_domain::export::ExportRequest;
use waybill_store::job::Job;

/// The names of the fields that differ; at least one, because it is asked for when the digests differ.
pub(super) fn differences(request: &ExportRequest, job: &Job) -> Vec<&'static str> {
    let mut fields = Vec::new();
    let mut compare = |field, same: bool| {
        if !same {
            fields.push(field);
        }
    };
    compare("dataset", request.dataset == job.dataset);
    compare("format", request.format.as_str() == job.format);
    // Absent columns stand for all of the data set's, which is what the job then holds.
    compare("columns", request.columns.as_ref().is_none_or(|columns| *columns == job.columns));
    compare("name", request.name == job.name);
    compare("labels", request.labels == job.labels);
    // An absent expiry stands for what the deployment keeps results for, which may have changed since.
    compare("expiry", request.expiry.is_none_or(|expiry| expiry.is_of(job.lifecycle.kept())));
    compare("notify", request.notify == job.notify);
    if fields.is_empty() {
        // Something said against something left open: the same file today, but not the same request.
        fields.push(if request.expiry.is_some() { "expiry" } else { "columns" });
    }
    fields
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;
    use waybill_domain::ids::{ExportId, ServiceAccountId, TenantId};
    use waybill_domain::job::Lifecycle;
    use waybill_domain::retention::Kept;

    use super::*;

    fn request(json: &str) -> ExportRequest {
        ExportRequest::parse(json.as_bytes()).unwrap()
    }

    /// The job that this request was accepted as.
    fn job(request: &ExportRequest) -> Job {
        Job {
            export_id: ExportId::from_uuid(Uuid::from_u128(1)),
            tenant_id: TenantId::from_uuid(Uuid::from_u128(2)),
            service_account_id: ServiceAccountId::from_uuid(Uuid::from_u128(3)),
            dataset: request.dataset.clone(),
            format: request.format.as_str().to_owned(),
            columns: request.columns.clone().unwrap_or_else(|| vec!["id".to_owned(), "total".to_owned()]),
            name: request.name.clone(),
            labels: request.labels.clone(),
            notify: request.notify.clone(),
            lifecycle: Lifecycle::accepted(Timestamp::UNIX_EPOCH, Kept::Always).next,
            retry_of: None,
            result_candidate_id: None,
            failure_code: None,
            failure_detail: None,
            accepted_at: Timestamp::UNIX_EPOCH,
            finished_at: None,
        }
    }

    #[test]
    fn every_field_that_differs_is_named() {
        let accepted = job(&request(r#"{"dataset": "orders", "name": "Q3", "labels": {"a": "1"}}"#));
        let other = request(r#"{"dataset": "refunds", "labels": {"a": "2"}, "columns": ["id"]}"#);
        assert_eq!(differences(&other, &accepted), ["dataset", "columns", "name", "labels"]);
    }

    #[test]
    fn another_expiry_is_another_request() {
        let accepted = job(&request(r#"{"dataset": "orders"}"#));
        let wanted = request(r#"{"dataset": "orders", "expiry": "2d"}"#);
        assert_eq!(differences(&wanted, &accepted), ["expiry"]);
    }

    #[test]
    fn naming_all_columns_is_another_request_than_naming_none() {
        let accepted = job(&request(r#"{"dataset": "orders"}"#));
        let named = request(r#"{"dataset": "orders", "columns": ["id", "total"]}"#);
        assert_eq!(differences(&named, &accepted), ["columns"]);
    }
}
