-- A tenant's next due job: one whose lease is over, and only then the one that waits longest. What was begun is never
-- behind a backlog. Two short index reads instead of one with OR, which would sort the whole backlog. The columns come
-- from the locking reads themselves: joined again, they could be older than the lock.
-- Lock: up to two rows of jobs, FOR NO KEY UPDATE SKIP LOCKED. Idempotency key: none, it reads.
-- Index: jobs_running_of_tenant, jobs_pending_of_tenant.
WITH lapsed AS (
    SELECT * FROM export.jobs
    WHERE tenant_id = $1 AND state = 'running' AND lease_until < now()
    ORDER BY lease_until
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
),
pending AS (
    SELECT * FROM export.jobs
    WHERE tenant_id = $1 AND state = 'pending' AND due_at <= now()
    ORDER BY due_at
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
)
SELECT due.*, now() AS database_now
FROM (SELECT * FROM lapsed UNION ALL SELECT * FROM pending) AS due
ORDER BY due.lease_until NULLS LAST
LIMIT 1
