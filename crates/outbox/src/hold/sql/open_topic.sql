-- Opens the hold of a topic ($1 = fence, $2 = topic, $3 = code, $4 = detail), or finds the one that is open. Lock: the
-- cursor's row, shared, so that nobody takes over meanwhile and two never open it. Idempotency key: the topic; no row means
-- that the fence is another's. Index: cursor_pkey, holds_of_a_topic.
WITH mine AS (
    SELECT fence FROM cursor WHERE fence = $1 FOR SHARE
), known AS (
    SELECT hold_id FROM holds WHERE scope = 'topic' AND topic = $2 AND ended_at IS NULL
), opened AS (
    INSERT INTO holds (scope, topic, code, detail)
    SELECT 'topic', $2, $3, $4 FROM mine WHERE NOT EXISTS (SELECT FROM known)
    RETURNING hold_id
)
SELECT hold_id FROM opened
UNION ALL
SELECT known.hold_id FROM known, mine
