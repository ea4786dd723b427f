-- What one decision about many is about, at most $4 rows, locked: refused rows and, with $3, the waiting ones of a topic that
-- is held itself. $1 topic, $2 code of the row or of its hold.
-- Lock: the rows. Idempotency key: none, it reads; what is decided no longer matches. Index: holds_open, parked_open.
SELECT parked.seq, parked.hold_id
FROM holds
JOIN parked ON parked.hold_id = holds.hold_id
WHERE holds.ended_at IS NULL
    AND ($1::text IS NULL OR holds.topic = $1)
    AND ($2::text IS NULL OR coalesce(parked.code, holds.code) = $2)
    AND parked.state IN ('refused', 'waiting')
    AND CASE holds.scope WHEN 'topic' THEN $3 ELSE parked.state = 'refused' END
ORDER BY parked.hold_id, parked.seq
LIMIT $4
FOR UPDATE OF parked
