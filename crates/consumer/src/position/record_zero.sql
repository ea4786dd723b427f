-- Stores position 0 of a partition that has none. The fence starts at 1: the caller holds it.
-- Lock: the inserted row. Idempotency key: (consumer_group, topic, partition); no row back means that another holder
-- was first. Index: positions_pkey.
INSERT INTO positions (consumer_group, topic, partition, topic_id, next_offset, fence)
VALUES ($1, $2, $3, $4, 0, 1)
ON CONFLICT (consumer_group, topic, partition) DO NOTHING
RETURNING fence;
