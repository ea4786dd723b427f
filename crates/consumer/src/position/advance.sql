-- Moves a position by compare-and-set under its fence, never past its stop. No row changed is an answer: somebody else
-- holds the partition, the position stands elsewhere, or it was told to stop.
-- Lock: the position's row, until the batch commits. Idempotency key: the expected offset. Index: positions_pkey.
UPDATE positions
SET next_offset = $6, updated_at = now()
WHERE consumer_group = $1
    AND topic = $2
    AND partition = $3
    AND fence = $4
    AND next_offset = $5
    AND ($6 <= stop_at OR stop_at IS NULL);
