-- Accepts an export: pending, version 1, due now.
-- Lock: key share on the tenant's, the service account's and the revision's rows. Idempotency key: export_id; the
-- intent in the same transaction is what makes it one. Index: jobs_pkey.
INSERT INTO export.jobs (
    export_id, tenant_id, service_account_id, dataset, dataset_revision, format, options, compression, columns, filters,
    order_name, name, labels, notify, state, version, fence, due_at, remind_at, accepted_at, retention_seconds,
    expires_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
RETURNING
    export_id, tenant_id, service_account_id, dataset, dataset_revision, format, options, compression, columns, filters,
    order_name, name, labels, notify, state, version, fence, lease_until, due_at, transient_failures, work_failures,
    lost_leases, retention_seconds, expires_at, retry_of, result_candidate_id, failure_code, failure_detail,
    accepted_at, finished_at;
