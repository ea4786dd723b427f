-- A page of a tenant's exports, newest first, after the one at ($2, $3) that the last page ended with; each with the result it
-- selected and its latest attempt, in one snapshot. What a filter does not say is NULL, and known when the plan is made.
-- Lock: none. Idempotency key: none, it reads. Index: jobs_of_tenant, or jobs_retry_of; candidates_pkey, attempts_pkey.
SELECT
    jobs.*,
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
FROM (
    SELECT *
    FROM export.jobs
    WHERE
        jobs.tenant_id = $1
        AND ($2::timestamptz IS NULL OR (jobs.accepted_at, jobs.export_id) < ($2, $3))
        AND ($4::timestamptz IS NULL OR jobs.accepted_at >= $4)
        AND ($5::timestamptz IS NULL OR jobs.accepted_at < $5)
        AND ($6::text IS NULL OR jobs.state = $6)
        AND ($7::text IS NULL OR jobs.dataset = $7)
        AND ($8::text IS NULL OR jobs.name = $8)
        AND ($9::text IS NULL OR jobs.labels ->> $9 = $10)
        AND ($11::text IS NULL OR jobs.retry_of = $11)
    ORDER BY jobs.accepted_at DESC, jobs.export_id DESC
    LIMIT $12
) AS jobs
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
ORDER BY jobs.accepted_at DESC, jobs.export_id DESC;
