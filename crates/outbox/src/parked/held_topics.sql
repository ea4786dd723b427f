-- The holds of whole topics that stand: $1 topic, $2 code (NULL: any). Lock: none. Idempotency key: none, it reads.
-- Index: holds_open.
SELECT hold_id
FROM holds
WHERE ended_at IS NULL
    AND scope = 'topic'
    AND ($1::text IS NULL OR topic = $1)
    AND ($2::text IS NULL OR code = $2)
