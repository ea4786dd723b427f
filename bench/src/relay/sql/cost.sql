-- What the server has written so far, and how many row versions of the outbox's tables are dead or were replaced.
-- Lock: none. Index: none.
SELECT
    (pg_current_wal_insert_lsn() - '0/0')::bigint AS wal_bytes,
    coalesce(sum(n_dead_tup), 0)::bigint AS dead_tuples,
    coalesce(sum(n_tup_upd + n_tup_del), 0)::bigint AS updates
FROM pg_stat_user_tables
WHERE schemaname = 'outbox'
