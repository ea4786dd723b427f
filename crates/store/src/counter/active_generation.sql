-- The generation that the live role consumes, and the name of its consumer group.
-- Lock: none. Idempotency key: none, it reads. Index: generations_one_active.
SELECT generation, consumer_group
FROM stats.generations
WHERE state = 'active';
