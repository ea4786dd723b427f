-- What the server calls this connection. Lock: none. Idempotency key: none, it reads. Index: none.
SELECT pg_backend_pid()
