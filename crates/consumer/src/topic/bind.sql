-- Binds a consumer group to a topic id, once.
-- Lock: none beyond the inserted row. Idempotency key: (consumer_group, topic). Index: topics_pkey.
INSERT INTO topics (consumer_group, topic, topic_id)
VALUES ($1, $2, $3)
ON CONFLICT (consumer_group, topic) DO NOTHING;
