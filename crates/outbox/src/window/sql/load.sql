-- The window as it is stored, if the fence is still ours. Lock: none. Index: cursors_pkey.
SELECT from_snapshot, to_snapshot, after_seq
FROM outbox.cursors
WHERE outbox = $1 AND fence = $2
