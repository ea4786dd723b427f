-- Extends the lease. Lock: the cursor's row, for one statement. Idempotency key: the fence; zero rows mean that it is
-- another's. Index: cursors_pkey.
UPDATE outbox.cursors
SET lease_until = now() + make_interval(secs => $3)
WHERE outbox = $1 AND fence = $2
