-- Ends a window ($5 = from, $6 = to) of rows of before a restore, whose every row Kafka acknowledged, and records the last
-- batch ($2 = after_seq before, $3 = the last row, $4 = how many) unless there was none. The window that was under way at the
-- restore is followed by all that it did not see, up to a snapshot that sees every xid; and that by the first window of
-- this server's own transactions, which has seen nothing. Lock: the cursor's row, for one statement. Idempotency key: the
-- fence, the window and the place in it; no row means that it was moved meanwhile, if only by this statement on a lost
-- connection, or that no rows are being sent again. Index: cursor_pkey.
WITH moved AS (
    UPDATE cursor
    SET
        from_snapshot = CASE WHEN cursor.to_snapshot::text = last.snapshot THEN '1:1:' ELSE cursor.to_snapshot END,
        to_snapshot = CASE WHEN cursor.to_snapshot::text = last.snapshot THEN '1:1:' ELSE last.snapshot::pg_snapshot END,
        after_seq = CASE WHEN cursor.to_snapshot::text = last.snapshot THEN floor_seq ELSE resend_after_seq END,
        resend_after_seq = CASE WHEN cursor.to_snapshot::text = last.snapshot THEN NULL ELSE resend_after_seq END,
        moved_at = now()
    FROM (SELECT '9223372036854775807:9223372036854775807:' AS snapshot) AS last
    WHERE cursor.fence = $1
        AND cursor.after_seq = $2
        AND cursor.from_snapshot::text = $5::pg_snapshot::text
        AND cursor.to_snapshot::text = $6::pg_snapshot::text
        AND cursor.resend_after_seq IS NOT NULL
    RETURNING fence, from_snapshot, to_snapshot, after_seq, floor_seq, resend_after_seq
), recorded AS (
    INSERT INTO batches (fence, from_snapshot, to_snapshot, after_seq, last_seq, events)
    SELECT fence, $5, $6, $2, $3, $4 FROM moved WHERE $4::integer > 0
)
SELECT from_snapshot, to_snapshot, after_seq, floor_seq, resend_after_seq FROM moved
