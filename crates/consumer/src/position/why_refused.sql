-- What stood in the way of an advance: the stop, when fence and offset are still the caller's; otherwise no row.
-- Lock: none. Index: positions_pkey.
SELECT stop_at
FROM positions
WHERE consumer_group = $1
    AND topic = $2
    AND partition = $3
    AND fence = $4
    AND next_offset = $5
    AND stop_at IS NOT NULL;
