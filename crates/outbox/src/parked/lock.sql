-- A parked row as it stands, locked, and the first refused row of its hold if there is one.
-- Lock: the row. Idempotency key: none, it reads. Index: parked_pkey, parked_open.
SELECT
    parked.state, parked.hold_id,
    (
        SELECT min(refused.seq) FROM parked AS refused
        WHERE refused.hold_id = parked.hold_id AND refused.state = 'refused'
    ) AS first_refused
FROM parked
WHERE parked.seq = $1
FOR UPDATE
