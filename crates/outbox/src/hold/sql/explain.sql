-- Says why a hold is still open ($2 = hold_id, $3 = code, $4 = detail). Lock: the cursor's row, shared ($1 = fence); then the
-- hold's. Idempotency key: hold_id; no row means that the fence is another's. Index: cursor_pkey, holds_pkey.
WITH mine AS (
    SELECT fence FROM cursor WHERE fence = $1 FOR SHARE
), explained AS (
    UPDATE holds
    SET code = $3, detail = $4
    FROM mine
    WHERE holds.hold_id = $2 AND holds.ended_at IS NULL
)
SELECT fence FROM mine
