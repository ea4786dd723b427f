-- Lets the planner of this transaction read whole tables and sort only where it cannot do without: what is left in a plan
-- then has no index behind it, however small the table still is.
-- Lock: none. Idempotency key: none. Index: none.
SELECT
    pg_catalog.set_config('enable_seqscan', 'off', true),
    pg_catalog.set_config('enable_sort', 'off', true),
    pg_catalog.set_config('enable_incremental_sort', 'off', true)
