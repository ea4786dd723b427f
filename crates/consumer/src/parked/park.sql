-- Keeps a record whole that could not be applied.
-- Lock: the inserted row. Idempotency key: the record's place and its topic's id, so that reading it again after a
-- position was moved back keeps the first row. Index: parked_pkey.
INSERT INTO parked (
    consumer_group, topic, partition, record_offset, topic_id,
    key, header_names, header_values, payload, reason, detail
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (consumer_group, topic, partition, record_offset, topic_id) DO NOTHING;
