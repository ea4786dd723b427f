-- Takes the lease when it is over. Lock: the cursor's row, for one statement. Idempotency key: none; taking it twice
-- only raises the fence. Index: cursors_pkey.
UPDATE outbox.cursors
SET fence = fence + 1, holder = $2, lease_until = now() + make_interval(secs => $3)
WHERE outbox = $1 AND lease_until <= now()
RETURNING fence, from_snapshot, to_snapshot, after_seq
