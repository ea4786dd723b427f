-- Gives the lease back. Lock: the cursor's row, for one statement. Idempotency key: the fence. Index: cursors_pkey.
UPDATE outbox.cursors
SET lease_until = '-infinity', holder = NULL
WHERE outbox = $1 AND fence = $2
