-- The holds that stand, oldest first and at most $1, each with its rows counted up to $2. Lock: none.
-- Idempotency key: none, it reads. Index: holds_open, parked_open.
SELECT
    holds.hold_id, holds.scope, holds.topic, holds.key, holds.code, holds.detail, holds.held_at,
    holds.resume_requested_at, parked.refused, parked.waiting, parked.created_at
FROM holds
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE undecided.state = 'refused') AS refused,
        count(*) FILTER (WHERE undecided.state = 'waiting') AS waiting,
        min(undecided.created_at) AS created_at
    FROM (
        SELECT state, created_at
        FROM parked
        WHERE parked.hold_id = holds.hold_id AND parked.state IN ('refused', 'waiting')
        ORDER BY parked.seq
        LIMIT $2
    ) AS undecided
) AS parked
WHERE holds.ended_at IS NULL
ORDER BY holds.hold_id
LIMIT $1
