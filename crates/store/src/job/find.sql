-- One export of one tenant, with the result it selected and its latest attempt, in one snapshot.
-- Lock: none. Idempotency key: none, it reads. Index: jobs_pkey, candidates_pkey, attempts_pkey.
SELECT
    jobs.export_id, jobs.tenant_id, jobs.service_account_id, jobs.dataset, jobs.format, jobs.columns, jobs.name,
    jobs.labels, jobs.notify, jobs.state, jobs.version, jobs.fence, jobs.lease_until, jobs.due_at,
    jobs.transient_failures, jobs.work_failures, jobs.lost_leases, jobs.retention_seconds, jobs.expires_at,
    jobs.retry_of, jobs.result_candidate_id, jobs.failure_code, jobs.failure_detail, jobs.accepted_at,
    jobs.finished_at,
    result.object_key AS result_object_key,
    result.rows AS result_rows,
    result.bytes AS result_bytes,
    result.sha256 AS result_sha256,
    attempt.fence AS attempt_fence,
    attempt.rows_done AS attempt_rows_done,
    attempt.rows_total AS attempt_rows_total,
    attempt.bytes_done AS attempt_bytes_done
FROM export.jobs
LEFT JOIN export.candidates AS result ON result.candidate_id = jobs.result_candidate_id
LEFT JOIN LATERAL (
    SELECT attempts.fence, attempts.rows_done, attempts.rows_total, attempts.bytes_done
    FROM export.attempts
    WHERE attempts.export_id = jobs.export_id
    ORDER BY attempts.fence DESC
    LIMIT 1
) AS attempt ON true
WHERE jobs.export_id = $1 AND jobs.tenant_id = $2;
