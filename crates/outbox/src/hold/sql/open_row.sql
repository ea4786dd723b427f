-- Opens the hold of a refused row's key ($1 = fence, $2 = seq, $3 = code, $4 = detail), or finds the one that is open; a row
-- without a key gets one of its own. Lock: the cursor's row, shared, so that nobody takes over meanwhile and two never open
-- it. Idempotency key: topic and key; a single row's hold has none, and an empty one is ended. No row means that the fence
-- is another's. Index: cursor_pkey, parked_pkey, the primary key of every partition, holds_of_a_key.
WITH mine AS (
    SELECT fence FROM cursor WHERE fence = $1 FOR SHARE
), refused AS (
    SELECT topic, key FROM parked WHERE seq = $2
    UNION ALL
    SELECT topic, key FROM events WHERE seq = $2
    LIMIT 1
), known AS (
    SELECT holds.*
    FROM holds, refused
    WHERE holds.scope = 'key'
        AND holds.ended_at IS NULL
        AND holds.topic = refused.topic
        AND sha256(holds.key) = sha256(refused.key)
), opened AS (
    INSERT INTO holds (scope, topic, key, code, detail)
    SELECT CASE WHEN key IS NULL THEN 'row' ELSE 'key' END, topic, key, $3, $4
    FROM refused, mine
    WHERE NOT EXISTS (SELECT FROM known)
    RETURNING *
)
SELECT
    found.hold_id, found.scope, found.topic, sha256(found.key) AS key_digest, found.code, found.detail,
    found.resume_requested_at, true AS is_empty
FROM (SELECT * FROM opened UNION ALL SELECT * FROM known) AS found, mine
