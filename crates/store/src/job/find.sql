-- One export of one tenant, with the result it selected and its latest attempt, in one snapshot.
-- Lock: none. Idempotency key: none, it reads. Index: jobs_pkey, candidates_pkey, attempts_pkey.
SELECT
    jobs.export_id, jobs.tenant_id, jobs.service_account_id, jobs.dataset, jobs.dataset_revision, jobs.format,
    jobs.options, jobs.compression, jobs.columns, jobs.filters, jobs.order_name, jobs.name, jobs.labels, jobs.notify,
    jobs.state, jobs.version, jobs.fence, jobs.lease_until, jobs.due_at, jobs.transient_failures, jobs.work_failures,
    jobs.lost_leases, jobs.retention_seconds, jobs.expires_at, jobs.retry_of, jobs.result_candidate_id,
    jobs.failure_code, jobs.failure_detail, jobs.accepted_at, jobs.finished_at,
    result.object_key AS result_object_key,
    result.rows AS result_rows,
    result.bytes AS result_bytes,
    result.sha256 AS result_sha256,
    result.as_of_lsn AS result_as_of_lsn,
    result.as_of_at AS result_as_of_at,
    attempt.fence AS attempt_fence,
    attempt.claimed_at AS attempt_claimed_at,
    attempt.heartbeat_at AS attempt_heartbeat_at,
    attempt.rows_done AS attempt_rows_done,
    attempt.rows_estimated AS attempt_rows_estimated,
    attempt.bytes_done AS attempt_bytes_done
FROM export.jobs
LEFT JOIN export.candidates AS result ON result.candidate_id = jobs.result_candidate_id
LEFT JOIN LATERAL (
    SELECT
        attempts.fence, attempts.claimed_at, attempts.heartbeat_at, attempts.rows_done, attempts.rows_estimated,
        attempts.bytes_done
    FROM export.attempts
    WHERE attempts.export_id = jobs.export_id
    ORDER BY attempts.fence DESC
    LIMIT 1
) AS attempt ON true
WHERE jobs.export_id = $1 AND jobs.tenant_id = $2;
