-- Lock: the jobs' rows, FOR NO KEY UPDATE SKIP LOCKED: whoever holds one is moving it, or reminding of it, right now.
-- Idempotency key: (export_id, remind_at): within one interval a job is taken once, however many take.
-- Index: jobs_to_remind.
WITH overdue AS (
    SELECT export_id
    FROM export.jobs
    WHERE
        state IN ('pending', 'running') AND remind_at <= now() - $2::bigint * interval '1 millisecond'
        AND coalesce(due_at, lease_until) <= now()
    ORDER BY remind_at
    LIMIT $1
    FOR NO KEY UPDATE SKIP LOCKED
)
-- The next reminder is $2 after what is stored here.
UPDATE export.jobs AS job
SET
    remind_at = now() - $2::bigint * interval '1 millisecond' + least(
        greatest(now() - coalesce(job.due_at, job.lease_until), $2::bigint * interval '1 millisecond'),
        $3::bigint * interval '1 millisecond'
    )
FROM overdue
WHERE job.export_id = overdue.export_id
RETURNING job.export_id, job.tenant_id, now() AS database_now
