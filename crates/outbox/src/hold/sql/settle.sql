-- Notes that Kafka acknowledged parked rows ($1 = fence, $2 = hold_id, $3 = their seqs), those that were discarded while they
-- were on their way, too. Lock: the cursor's row, shared, so that nobody takes over meanwhile; then the parked rows.
-- Idempotency key: seq; no row means that the fence is another's. Index: cursor_pkey, parked_pkey.
WITH mine AS (
    SELECT fence FROM cursor WHERE fence = $1 FOR SHARE
), settled AS (
    UPDATE parked
    SET state = 'sent', sent_at = now()
    FROM mine
    WHERE parked.seq = ANY ($3::bigint[]) AND parked.hold_id = $2 AND parked.state IN ('waiting', 'discarded')
)
SELECT fence FROM mine
