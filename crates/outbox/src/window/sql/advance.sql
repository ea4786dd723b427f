-- Moves the cursor over rows that Kafka acknowledged ($3 = after_seq before, $4 = the last of them, $5 = how many) and
-- records when. Lock: the cursor's row, for one statement. Idempotency key: the fence and the place before; zero rows
-- mean that another has moved it. Index: cursors_pkey.
WITH moved AS (
    UPDATE outbox.cursors
    SET after_seq = $4, moved_at = now()
    WHERE outbox = $1 AND fence = $2 AND after_seq = $3 AND $4::bigint > $3::bigint
    RETURNING outbox, fence, from_snapshot, to_snapshot
), recorded AS (
    INSERT INTO outbox.batches (outbox, fence, from_snapshot, to_snapshot, after_seq, last_seq, events)
    SELECT outbox, fence, from_snapshot, to_snapshot, $3, $4, $5 FROM moved
)
SELECT count(*) FROM moved
