-- Extends the lease, unless it was given back: a renewal that was still on its way then must not take it from the standbys
-- again. Lock: the cursor's row, for one statement. Idempotency key: the fence; zero rows mean that it is another's or
-- nobody's. Index: cursor_pkey.
UPDATE cursor
SET lease_until = now() + make_interval(secs => $2)
WHERE fence = $1 AND holder IS NOT NULL
