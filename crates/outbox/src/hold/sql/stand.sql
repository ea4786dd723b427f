-- Answers a request to go on with a hold that could not be followed ($2 = hold_id, $3 = when it was made). Lock: the
-- cursor's row, shared ($1 = fence); then the hold's. Idempotency key: the request's time; no row means that the fence is
-- another's. Index: cursor_pkey, holds_pkey.
WITH mine AS (
    SELECT fence FROM cursor WHERE fence = $1 FOR SHARE
), answered AS (
    UPDATE holds
    SET resume_requested_at = NULL
    FROM mine
    WHERE holds.hold_id = $2 AND holds.resume_requested_at = $3::timestamptz
)
SELECT fence FROM mine
