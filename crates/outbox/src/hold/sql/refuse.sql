-- Notes that a parked row was refused again ($1 = fence, $2 = hold_id, $3 = seq, $4 = code, $5 = detail) and answers the
-- request that led to it ($6 = when it was made, NULL when nobody asked). Lock: the cursor's row, shared; then the parked row
-- and its hold's. Idempotency key: none, a repetition only counts once more; no row means that the fence is another's.
-- Index: cursor_pkey, parked_pkey, holds_pkey.
WITH mine AS (
    SELECT fence FROM cursor WHERE fence = $1 FOR SHARE
), refused AS (
    UPDATE parked
    SET state = 'refused', code = $4, detail = $5, refusals = refusals + 1
    FROM mine
    WHERE parked.seq = $3 AND parked.hold_id = $2 AND parked.state IN ('refused', 'waiting')
), answered AS (
    UPDATE holds
    SET
        code = $4,
        detail = $5,
        resume_requested_at = nullif(holds.resume_requested_at, $6::timestamptz)
    FROM mine
    WHERE holds.hold_id = $2
)
SELECT fence FROM mine
