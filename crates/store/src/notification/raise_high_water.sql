-- Raises the mark, never lowers it: a lower value changes no row, and a trigger refuses whoever tries otherwise.
-- Lock: the partition's row. Idempotency key: (topic, topic_id, partition). Index: high_water_pkey.
UPDATE notify.high_water
SET next_offset = $4
WHERE topic = $1 AND topic_id = $2 AND partition = $3 AND next_offset < $4
