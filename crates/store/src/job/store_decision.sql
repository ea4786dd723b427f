-- Stores what was decided, where the fence and the state that it was decided upon still stand. No row: they do not.
-- What a failed export failed of stays, also when it is deleted.
-- Lock: the job's row. Idempotency key: (export_id, fence, state, version) before. Index: jobs_pkey.
UPDATE export.jobs
SET state = $5,
    version = $6,
    fence = $7,
    lease_until = $8,
    due_at = $9,
    remind_at = $10,
    transient_failures = $11,
    work_failures = $12,
    lost_leases = $13,
    failure_code = coalesce($14, failure_code),
    failure_detail = coalesce($15, failure_detail),
    finished_at = CASE WHEN $16 THEN coalesce(finished_at, now()) END
WHERE export_id = $1 AND fence = $2 AND state = $3 AND version = $4
RETURNING
    export_id, tenant_id, service_account_id, dataset, dataset_revision, format, options, compression, columns, filters,
    order_name, name, labels, notify, state, version, fence, lease_until, due_at, transient_failures, work_failures,
    lost_leases, retention_seconds, expires_at, retry_of, result_candidate_id, failure_code, failure_detail,
    accepted_at, finished_at;
