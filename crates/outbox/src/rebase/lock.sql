-- Locks the cursor against every relay, with the server that it is of and the one that answers.
-- Lock: the cursor's row, until the transaction ends. Idempotency key: none, it reads. Index: cursor_pkey.
SELECT
    cursor.fence, cursor.system_identifier, cursor.timeline,
    server.system_identifier AS found_system_identifier, server.timeline AS found_timeline
FROM cursor, server_identity() AS server
FOR UPDATE OF cursor
