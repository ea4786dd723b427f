-- How long a look at a source waits for a lock, in milliseconds: describing a table waits for whoever changes it. For the
-- whole session; a reading transaction sets its own.
-- Lock: none. Idempotency key: none. Index: none.
SELECT pg_catalog.set_config('lock_timeout', $1::bigint::text, false)
