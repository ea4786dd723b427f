-- Takes the lease when it is over, and only on the server whose transactions the window counts; the first relay of all
-- records which one that is. Commits synchronously whatever the session says: a fence that a crash took back would be given
-- out a second time, to another relay than the one that still has it. Lock: the cursor's row, for one statement.
-- Idempotency key: none; taking it twice only raises the fence. Index: cursor_pkey.
UPDATE cursor
SET
    fence = cursor.fence + 1,
    holder = $1,
    lease_until = now() + make_interval(secs => $2),
    system_identifier = server.system_identifier,
    timeline = server.timeline
FROM server_identity() AS server
WHERE cursor.lease_until <= now()
    AND coalesce(cursor.system_identifier, server.system_identifier) = server.system_identifier
    AND coalesce(cursor.timeline, server.timeline) = server.timeline
    AND (SELECT set_config('synchronous_commit', 'on', true)) = 'on'
RETURNING
    cursor.fence, cursor.from_snapshot, cursor.to_snapshot, cursor.after_seq, cursor.floor_seq, cursor.resend_after_seq,
    server.system_identifier, server.timeline
