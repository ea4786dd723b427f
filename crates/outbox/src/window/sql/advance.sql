-- Moves the cursor over rows that Kafka acknowledged ($3 = after_seq before, $4 = the last of them, $5 = how many) in a
-- window ($6 = from, $7 = to) and records when. Lock: the cursor's row, for one statement. Idempotency key: the fence, the
-- window and the place in it; zero rows mean that it was moved meanwhile, if only by this statement on a lost connection.
-- Index: cursors_pkey.
WITH moved AS (
    UPDATE outbox.cursors
    SET after_seq = $4, moved_at = now()
    WHERE outbox = $1
        AND fence = $2
        AND after_seq = $3
        AND $4::bigint > $3::bigint
        AND from_snapshot::text = $6::pg_snapshot::text
        AND to_snapshot::text = $7::pg_snapshot::text
    RETURNING outbox, fence
), recorded AS (
    INSERT INTO outbox.batches (outbox, fence, from_snapshot, to_snapshot, after_seq, last_seq, events)
    SELECT outbox, fence, $6, $7, $3, $4, $5 FROM moved
)
SELECT count(*) FROM moved
