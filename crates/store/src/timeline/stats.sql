-- When the generation of stats that readers are served from counted a fact. $1 is the deployment's prefix of groups.
-- Lock: none. Idempotency key: none, it reads. Index: inbox_pkey.
SELECT inbox.event_id, inbox.applied_at
FROM stats.pointer
JOIN stats.generations ON generations.generation = pointer.generation
JOIN stats.inbox ON inbox.consumer_group = $1::text || generations.consumer_group
WHERE pointer.projection = 'stats' AND inbox.source = $2 AND inbox.event_id = $3;
