-- The holds that have not ended ($1 = how many at most). Lock: none. Index: holds_open, parked_open.
SELECT
    hold_id, scope, topic, sha256(key) AS key_digest, code, detail, resume_requested_at,
    NOT EXISTS (
        SELECT FROM parked
        WHERE parked.hold_id = holds.hold_id AND parked.state IN ('refused', 'waiting')
    ) AS is_empty
FROM holds
WHERE ended_at IS NULL
ORDER BY hold_id
LIMIT $1
