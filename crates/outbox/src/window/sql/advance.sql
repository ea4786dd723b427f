-- Moves the cursor over rows that Kafka acknowledged ($2 = after_seq before, $3 = the last of them, $4 = how many) in a
-- window ($5 = from, $6 = to) and records when. Waits for no flush: a server that dies before it comes up with an earlier
-- place in a window that was on disk, and rows are sent again, which is all that a lost move ever costs.
-- Lock: the cursor's row, for one statement. Idempotency key: the fence, the window and the place in it; zero rows mean that it
-- was moved meanwhile, if only by this statement on a lost connection. Index: cursor_pkey.
WITH moved AS (
    UPDATE cursor
    SET after_seq = $3, moved_at = now()
    WHERE fence = $1
        AND after_seq = $2
        AND $3::bigint > $2::bigint
        AND from_snapshot::text = $5::pg_snapshot::text
        AND to_snapshot::text = $6::pg_snapshot::text
        AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
    RETURNING fence
), recorded AS (
    INSERT INTO batches (fence, from_snapshot, to_snapshot, after_seq, last_seq, events)
    SELECT fence, $5, $6, $2, $3, $4 FROM moved
)
SELECT count(*) FROM moved
