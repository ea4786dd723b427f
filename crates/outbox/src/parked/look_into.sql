-- Unqualified names mean the outbox of the schema $1 until the transaction ends. Lock: none. Idempotency key: none, it may
-- be said again. Index: none.
SELECT set_config('search_path', quote_ident($1) || ', pg_temp', true)
