-- Lock: none; the caller holds the job's row where it must not move. Idempotency key: none, it reads.
-- Index: attempts_pkey.
SELECT state, worker FROM export.attempts WHERE export_id = $1 AND fence = $2
