-- One row whole, its payload up to $2 bytes, with its hold and, counted up to $3, what is undecided behind it.
-- Lock: none. Idempotency key: none, it reads. Index: parked_pkey, holds_pkey, parked_open.
SELECT
    parked.seq, parked.hold_id, holds.scope, parked.state, parked.topic, parked.key, parked.event_id, parked.created_at,
    parked.parked_at, coalesce(parked.code, holds.code) AS code, coalesce(parked.detail, holds.detail) AS detail,
    parked.refusals, parked.decided_by, parked.decided_at, parked.decision_reason, parked.sent_at,
    octet_length(parked.payload)::bigint AS payload_bytes,
    parked.header_names, parked.header_values, substring(parked.payload FROM 1 FOR $2) AS payload,
    holds.code AS hold_code, holds.detail AS hold_detail, holds.held_at, holds.resume_requested_at, holds.ended_at,
    (
        SELECT count(*)
        FROM (
            SELECT FROM parked AS later
            WHERE later.hold_id = parked.hold_id AND later.seq > parked.seq AND later.state IN ('refused', 'waiting')
            LIMIT $3
        ) AS behind
    ) AS behind
FROM parked
JOIN holds ON holds.hold_id = parked.hold_id
WHERE parked.seq = $1
