-- Extends the lease. Lock: the cursor's row, for one statement. Idempotency key: the fence; zero rows mean that it is
-- another's. Index: cursor_pkey.
UPDATE cursor
SET lease_until = now() + make_interval(secs => $2)
WHERE fence = $1
