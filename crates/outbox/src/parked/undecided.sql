-- Rows that are refused or wait, of holds that stand, in the order of (hold_id, seq): $1 topic, $2 code of the row or of its
-- hold, $3 state (NULL: any), $4 and $5 the place after which to go on, $6 how many. A topic's hold has no refused row, and
-- may have a million others. Lock: none. Idempotency key: none, it reads. Index: holds_open, parked_open.
SELECT
    parked.seq, parked.hold_id, holds.scope, parked.state, parked.topic, parked.key, parked.event_id, parked.created_at,
    parked.parked_at, coalesce(parked.code, holds.code) AS code, coalesce(parked.detail, holds.detail) AS detail,
    parked.refusals, parked.decided_by, parked.decided_at, parked.decision_reason, parked.sent_at,
    octet_length(parked.payload)::bigint AS payload_bytes
FROM holds
JOIN parked ON parked.hold_id = holds.hold_id
WHERE holds.ended_at IS NULL
    AND holds.hold_id >= $4
    AND ($1::text IS NULL OR holds.topic = $1)
    AND ($2::text IS NULL OR coalesce(parked.code, holds.code) = $2)
    AND ($3::text IS NULL OR parked.state = $3)
    AND ($3::text IS DISTINCT FROM 'refused' OR holds.scope <> 'topic')
    AND parked.state IN ('refused', 'waiting')
    AND (parked.hold_id, parked.seq) > ($4, $5)
ORDER BY parked.hold_id, parked.seq
LIMIT $6
