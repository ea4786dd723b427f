-- Lock: the advisory lock of whoever migrates this database, kept by the session; waits as long as lock_timeout says.
-- Idempotency key: none needed, the session takes it once. Index: none.
SELECT pg_advisory_lock($1)
