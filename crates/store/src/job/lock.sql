-- One export of any tenant, for an operator's decision.
-- Lock: the job's row until the transaction ends, so what is decided upon still stands when it is stored.
-- Idempotency key: none, it reads. Index: jobs_pkey.
SELECT
    export_id, tenant_id, service_account_id, dataset, dataset_revision, format, options, compression, columns, filters,
    order_name, name, labels, notify, state, version, fence, lease_until, due_at, transient_failures, work_failures,
    lost_leases, retention_seconds, expires_at, retry_of, result_candidate_id, failure_code, failure_detail,
    accepted_at, finished_at
FROM export.jobs
WHERE export_id = $1
FOR UPDATE;
