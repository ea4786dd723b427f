-- How far each of these exports is. Lock: none. Idempotency key: none, it reads. Index: jobs_pkey, attempts_pkey.
SELECT
    jobs.export_id,
    jobs.version,
    jobs.state,
    attempt.fence AS attempt_fence,
    attempt.rows_done AS attempt_rows_done,
    attempt.bytes_done AS attempt_bytes_done
FROM export.jobs
LEFT JOIN LATERAL (
    SELECT attempts.fence, attempts.rows_done, attempts.bytes_done
    FROM export.attempts
    WHERE attempts.export_id = jobs.export_id
    ORDER BY attempts.fence DESC
    LIMIT 1
) AS attempt ON true
WHERE jobs.export_id = ANY ($1);
