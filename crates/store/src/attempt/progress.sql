-- How far the attempt came, without touching its lease.
-- Lock: the attempt's row. Idempotency key: (export_id, fence, state). Index: attempts_pkey.
UPDATE export.attempts
SET rows_done = $3, rows_estimated = $4, bytes_done = $5
WHERE export_id = $1 AND fence = $2 AND state = 'running'
