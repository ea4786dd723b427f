-- Ends a window ($5 = from, $6 = to) whose every row Kafka acknowledged: from = to. Records the last batch ($2 = after_seq
-- before, $3 = the last row, $4 = how many) unless there was none. Waits for no flush: a server that dies before it comes up
-- with the window open, whose `to` was on disk, and its rows are sent again. Lock: the cursor's row, for one statement.
-- Idempotency key: the fence, the window and the place in it; zero rows mean that it was moved meanwhile, if only by
-- this statement on a lost connection. Index: cursor_pkey.
WITH moved AS (
    UPDATE cursor
    SET from_snapshot = to_snapshot, after_seq = floor_seq, moved_at = now()
    WHERE fence = $1
        AND after_seq = $2
        AND from_snapshot::text = $5::pg_snapshot::text
        AND to_snapshot::text = $6::pg_snapshot::text
        AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
    RETURNING fence
), recorded AS (
    INSERT INTO batches (fence, from_snapshot, to_snapshot, after_seq, last_seq, events)
    SELECT fence, $5, $6, $2, $3, $4 FROM moved WHERE $4::integer > 0
)
SELECT count(*) FROM moved
