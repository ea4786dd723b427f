-- Opens the window after a drained one, up to a snapshot of this moment, and commits synchronously whatever the session
-- says: `to` must be on disk before any row of it is used. The flush also makes the asynchronous commits durable that
-- `to` sees. Lock: the cursor's row, for one statement. Idempotency key: the fence, and a window that is drained.
-- Index: cursor_pkey.
UPDATE cursor
SET to_snapshot = pg_current_snapshot(), after_seq = floor_seq, moved_at = now()
WHERE fence = $1
    AND from_snapshot::text = to_snapshot::text
    AND (SELECT set_config('synchronous_commit', 'on', true)) = 'on'
RETURNING to_snapshot
