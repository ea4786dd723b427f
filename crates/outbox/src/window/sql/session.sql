-- How a relay's session plans: once, by indexes, in one process. A plan of its own for every set of parameters costs as much
-- as a small read, and statistics that are older than the table must not lead away from the indexes. What is compiled
-- just in time costs more than a page. Lock: none. Index: none.
SELECT
    set_config('plan_cache_mode', 'force_generic_plan', false),
    set_config('enable_seqscan', 'off', false),
    set_config('enable_bitmapscan', 'off', false),
    set_config('max_parallel_workers_per_gather', '0', false),
    set_config('jit', 'off', false)
