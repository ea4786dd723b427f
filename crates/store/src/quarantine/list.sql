-- A page of quarantined exports in the order of their ids, which is that of their acceptance, after the one that the
-- last page ended with.
-- Lock: none. Idempotency key: none, it reads. Index: jobs_quarantined, attempts_pkey.
SELECT
    jobs.export_id, jobs.tenant_id, jobs.dataset, jobs.name, jobs.lost_leases, jobs.accepted_at,
    attempt.fence AS attempt_fence,
    attempt.worker AS attempt_worker,
    attempt.ended_at AS attempt_ended_at
FROM export.jobs
LEFT JOIN LATERAL (
    SELECT attempts.fence, attempts.worker, attempts.ended_at
    FROM export.attempts
    WHERE attempts.export_id = jobs.export_id
    ORDER BY attempts.fence DESC
    LIMIT 1
) AS attempt ON true
WHERE jobs.state = 'quarantined' AND jobs.export_id > $1
ORDER BY jobs.export_id
LIMIT $2;
