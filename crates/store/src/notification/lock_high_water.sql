-- The first offset of a partition whose facts may still make notifications; a partition never seen begins at 0.
-- The no-op update takes the row's lock also when the row exists.
-- Lock: the partition's row. Idempotency key: (topic, topic_id, partition). Index: high_water_pkey.
INSERT INTO notify.high_water AS mark (topic, topic_id, partition, next_offset)
VALUES ($1, $2, $3, 0)
ON CONFLICT (topic, topic_id, partition) DO UPDATE SET next_offset = mark.next_offset
RETURNING next_offset
