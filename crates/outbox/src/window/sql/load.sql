-- The window as it is stored, if the fence is still ours, with the server that it is of and the one that answers.
-- Lock: none. Index: cursor_pkey.
SELECT
    cursor.from_snapshot, cursor.to_snapshot, cursor.after_seq, cursor.floor_seq, cursor.resend_after_seq,
    cursor.system_identifier, cursor.timeline,
    server.system_identifier AS found_system_identifier, server.timeline AS found_timeline
FROM cursor, server_identity() AS server
WHERE cursor.fence = $1
