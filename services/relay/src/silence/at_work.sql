-- Whether the backend $1 is busy with a statement, and not with sending its answer. A role may see that of its own sessions.
-- Lock: none. Idempotency key: none, it reads. Index: none, it is a view of shared memory.
SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client' AS is_at_work
FROM pg_stat_activity
WHERE pid = $1
