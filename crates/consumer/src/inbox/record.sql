-- Records the event keys of a batch and gives back those that are new: each has its effect once. Of two copies in one batch
-- the first is recorded.
-- Lock: the inserted rows; keys come sorted, so that two batches wait for each other in one order only.
-- Idempotency key: (consumer_group, source, event_id). Index: inbox_pkey.
INSERT INTO inbox (consumer_group, source, event_id, fingerprint)
SELECT $1, keys.source, keys.event_id, keys.fingerprint
FROM UNNEST($2::text[], $3::text[], $4::bytea[]) AS keys (source, event_id, fingerprint)
ON CONFLICT (consumer_group, source, event_id) DO NOTHING
RETURNING source, event_id;
