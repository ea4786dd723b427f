-- An attempt is over. $4 holds the states that the lifecycle lets end so: a second call finds none of them. What it
-- first ended with stays: its end time, and a cause where there was one.
-- Lock: the attempt's row. Idempotency key: (export_id, fence, state). Index: attempts_pkey.
UPDATE export.attempts
SET
    state = $3,
    ended_at = coalesce(ended_at, now()),
    error_code = coalesce(error_code, $5),
    error_detail = coalesce(error_detail, $6)
WHERE export_id = $1 AND fence = $2 AND state = ANY($4)
