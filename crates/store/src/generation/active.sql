-- The generation that the live role consumes, and the name of its consumer group.
-- Lock: none. Idempotency key: none, it reads. Index: generations_one_active. Schema: that of the connection.
SELECT generation, consumer_group
FROM generations
WHERE state = 'active';
