-- Moves a refused row ($4 = seq, $5 = code, $6 = detail) and the later undecided rows of its key from a topic's hold ($2) to
-- one of their own ($3). Lock: the cursor's row, shared ($1 = fence); then those rows. Idempotency key: seq and hold; no
-- row means that the fence is another's. Index: cursor_pkey, parked_pkey, parked_open.
WITH mine AS (
    SELECT fence FROM cursor WHERE fence = $1 FOR SHARE
), refused AS (
    SELECT parked.seq, parked.topic, parked.key
    FROM parked, mine
    WHERE parked.seq = $4 AND parked.hold_id = $2
), moved AS (
    UPDATE parked
    SET
        hold_id = $3,
        state = CASE WHEN parked.seq = refused.seq THEN 'refused' ELSE parked.state END,
        code = CASE WHEN parked.seq = refused.seq THEN $5 ELSE parked.code END,
        detail = CASE WHEN parked.seq = refused.seq THEN $6 ELSE parked.detail END,
        refusals = parked.refusals + (parked.seq = refused.seq)::integer
    FROM refused
    WHERE parked.hold_id = $2
        AND parked.state IN ('refused', 'waiting')
        AND (parked.seq = refused.seq OR (parked.seq > refused.seq AND parked.key = refused.key))
)
SELECT fence FROM mine
