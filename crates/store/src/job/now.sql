-- The transaction's time, by which everything in it is decided.
-- Lock: none. Idempotency key: none, it reads. Index: none.
SELECT now() AS now;
