-- Says where the relay goes on: $2 from, $3 to, $4 after_seq, $5 the last row of before the restore, $6 the row after which
-- such rows are sent again (NULL: none), $7 and $8 the server. Free for any relay, under another fence. Commits
-- synchronously whatever the session says. Lock: the cursor's row. Idempotency key: the fence ($1); zero rows mean that it is
-- another's. Index: cursor_pkey.
UPDATE cursor
SET
    from_snapshot = $2,
    to_snapshot = $3,
    after_seq = $4,
    floor_seq = $5,
    resend_after_seq = $6,
    system_identifier = $7,
    timeline = $8,
    fence = fence + 1,
    holder = NULL,
    lease_until = '-infinity',
    moved_at = now()
WHERE fence = $1
    AND (SELECT set_config('synchronous_commit', 'on', true)) = 'on'
