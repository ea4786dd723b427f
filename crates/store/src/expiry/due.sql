-- Exports whose result's time is over. What somebody holds is skipped: it is being expired, or deleted, right now.
-- Lock: the jobs' rows, FOR NO KEY UPDATE SKIP LOCKED. Idempotency key: none, it reads. Index: jobs_to_expire.
SELECT jobs.*, now() AS database_now
FROM export.jobs
WHERE jobs.state = 'succeeded' AND jobs.expires_at <= now()
ORDER BY jobs.expires_at
LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED
