-- Rows that were sent or discarded after all ($3), in the order of seq: $1 topic, $2 code of the last refusal, $4 the row
-- after which to go on, $5 how many. Lock: none. Idempotency key: none, it reads. Index: parked_pkey, or parked_discarded.
SELECT
    parked.seq, parked.hold_id, holds.scope, parked.state, parked.topic, parked.key, parked.event_id, parked.created_at,
    parked.parked_at, coalesce(parked.code, holds.code) AS code, coalesce(parked.detail, holds.detail) AS detail,
    parked.refusals, parked.decided_by, parked.decided_at, parked.decision_reason, parked.sent_at,
    octet_length(parked.payload)::bigint AS payload_bytes
FROM parked
JOIN holds ON holds.hold_id = parked.hold_id
WHERE parked.state = $3
    AND parked.seq > $4
    AND ($1::text IS NULL OR parked.topic = $1)
    AND ($2::text IS NULL OR coalesce(parked.code, holds.code) = $2)
ORDER BY parked.seq
LIMIT $5
