-- Who holds back cleaning in this database: the session, the prepared transaction or the replication slot with the oldest
-- snapshot or transaction id; none when nobody has any. Every snapshot that is taken beside an old transaction is as old as
-- that, so whoever has the id stands before who only sees it. Since when, and what kind of backend it is, only whoever may
-- read its state (pg_read_all_stats) is told: that an autovacuum worker has no user, and a sender to a standby no database,
-- everybody is. Lock: none. Idempotency key: none, it reads. Index: none, these are views of shared memory.
SELECT kind, name, held.xid::text AS xid, age(held.xid)::bigint AS age, since
FROM (
    SELECT
        'session' AS kind,
        concat_ws(' ', pid, usename, application_name) AS name,
        CASE
            WHEN backend_xid IS NULL THEN backend_xmin
            WHEN backend_xmin IS NULL OR age(backend_xid) > age(backend_xmin) THEN backend_xid
            ELSE backend_xmin
        END AS xid,
        backend_xid IS NOT NULL AND coalesce(age(backend_xid) >= age(backend_xmin), true) AS has_it,
        xact_start AS since
    FROM pg_stat_activity
    WHERE pid <> pg_backend_pid()
        AND usesysid IS NOT NULL
        AND (datname = current_database() OR datname IS NULL)
    UNION ALL
    SELECT 'prepared transaction', gid, transaction, true, prepared
    FROM pg_prepared_xacts
    WHERE database = current_database()
    UNION ALL
    SELECT 'replication slot', slot_name::text, xmin, false, NULL
    FROM pg_replication_slots
) AS held
WHERE held.xid IS NOT NULL
ORDER BY age(held.xid) DESC, has_it DESC
LIMIT 1
