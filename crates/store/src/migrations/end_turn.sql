-- Lock: gives the advisory lock of take_turn.sql back. Idempotency key: none. Index: none.
SELECT pg_advisory_unlock($1)
