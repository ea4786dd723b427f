-- Ends a window ($6 = from, $7 = to) whose every row Kafka acknowledged: from = to. Records the last batch ($3 = after_seq
-- before, $4 = the last row, $5 = how many) unless there was none. Lock: the cursor's row, for one statement.
-- Idempotency key: the fence, the window and the place in it; zero rows mean that it was moved meanwhile, if only by
-- this statement on a lost connection. Index: cursors_pkey.
WITH moved AS (
    UPDATE outbox.cursors
    SET from_snapshot = to_snapshot, after_seq = 0, moved_at = now()
    WHERE outbox = $1
        AND fence = $2
        AND after_seq = $3
        AND from_snapshot::text = $6::pg_snapshot::text
        AND to_snapshot::text = $7::pg_snapshot::text
    RETURNING outbox, fence
), recorded AS (
    INSERT INTO outbox.batches (outbox, fence, from_snapshot, to_snapshot, after_seq, last_seq, events)
    SELECT outbox, fence, $6, $7, $3, $4, $5 FROM moved WHERE $5::integer > 0
)
SELECT count(*) FROM moved
