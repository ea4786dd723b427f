-- Ends a hold ($2) if no undecided row is left under it, and answers whether it has ended. Lock: the cursor's row, shared
-- ($1 = fence), so that nobody parks meanwhile; then the hold's. Idempotency key: hold_id; no row means that the fence is
-- another's. Index: cursor_pkey, holds_pkey, parked_open.
WITH mine AS (
    SELECT fence FROM cursor WHERE fence = $1 FOR SHARE
), ended AS (
    UPDATE holds
    SET ended_at = now(), resume_requested_at = NULL
    FROM mine
    WHERE holds.hold_id = $2
        AND holds.ended_at IS NULL
        AND NOT EXISTS (
            SELECT FROM parked
            WHERE parked.hold_id = $2 AND parked.state IN ('refused', 'waiting')
        )
    RETURNING holds.hold_id
)
SELECT
    EXISTS (SELECT FROM ended)
    OR EXISTS (SELECT FROM holds WHERE holds.hold_id = $2 AND holds.ended_at IS NOT NULL) AS has_ended
FROM mine
