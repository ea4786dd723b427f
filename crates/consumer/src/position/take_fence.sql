-- Makes the caller the holder of a partition's position and reads it. Whoever held it before writes nothing any more.
-- Lock: the position's row, until the transaction under way on it is over. Idempotent in effect: each call fences out
-- all earlier ones. Index: positions_pkey.
UPDATE positions
SET fence = fence + 1
WHERE consumer_group = $1 AND topic = $2 AND partition = $3
RETURNING topic_id, next_offset, fence;
