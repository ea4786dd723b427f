-- The holder of the fence needs more time. Zero rows: another generation, or an end, came in between, or the lease is
-- over: its slot may be somebody else's already, so that a revival could make more run than the tenant may have.
-- Lock: the job's row, then the attempt's. Idempotency key: (export_id, fence, state); a repetition only moves the
-- lease on. Index: jobs_pkey, attempts_pkey.
WITH renewed AS (
    UPDATE export.jobs
    SET
        lease_until = now() + $3::bigint * interval '1 millisecond',
        remind_at = now() + $3::bigint * interval '1 millisecond'
    WHERE export_id = $1 AND fence = $2 AND state = 'running' AND lease_until >= now()
    RETURNING export_id, fence
)
UPDATE export.attempts AS attempt
SET heartbeat_at = now(), rows_done = $4, rows_estimated = $5, bytes_done = $6
FROM renewed
WHERE attempt.export_id = renewed.export_id AND attempt.fence = renewed.fence AND attempt.state = 'running'
