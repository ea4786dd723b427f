-- Gives the lease back. Lock: the cursor's row, for one statement. Idempotency key: the fence. Index: cursor_pkey.
UPDATE cursor
SET lease_until = '-infinity', holder = NULL
WHERE fence = $1
