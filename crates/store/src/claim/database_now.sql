-- Lock: none. Idempotency key: none, it reads. Index: none. Not now(), which stood still while a lock was awaited.
SELECT clock_timestamp() AS database_now
