-- Accepts another try of an export: a new one that asks for the same. What belongs to the failed one alone (its attempts,
-- failures and times) is not taken over.
-- Lock: key share on the tenant's, the service account's and the revision's rows; the caller holds the failed export's.
-- Idempotency key: export_id; the intent in the same transaction is what makes it one. Index: jobs_pkey.
INSERT INTO export.jobs (
    export_id, tenant_id, service_account_id, dataset, dataset_revision, format, options, compression, columns, filters,
    order_name, name, labels, notify, retention_seconds, expires_at, retry_of, state, version, fence, due_at, remind_at,
    accepted_at
)
SELECT
    $1, failed.tenant_id, $2, failed.dataset, failed.dataset_revision, failed.format, failed.options, failed.compression,
    failed.columns, failed.filters, failed.order_name, failed.name, failed.labels, failed.notify,
    failed.retention_seconds, failed.expires_at, failed.export_id, $4, $5, $6, $7, $8, $9
FROM export.jobs AS failed
WHERE failed.export_id = $3
RETURNING
    export_id, tenant_id, service_account_id, dataset, dataset_revision, format, options, compression, columns, filters,
    order_name, name, labels, notify, state, version, fence, lease_until, due_at, transient_failures, work_failures,
    lost_leases, retention_seconds, expires_at, retry_of, result_candidate_id, failure_code, failure_detail,
    accepted_at, finished_at;
