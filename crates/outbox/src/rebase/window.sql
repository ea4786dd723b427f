-- The window as it is stored, and the server's snapshot of now. Lock: none; the cursor is locked already.
-- Idempotency key: none, it reads. Index: cursor_pkey.
SELECT from_snapshot, to_snapshot, after_seq, floor_seq, resend_after_seq, pg_current_snapshot() AS now
FROM cursor
