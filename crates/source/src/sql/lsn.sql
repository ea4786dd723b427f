-- The end of the log as the server knows it: asked for after the snapshot, so what was committed beyond it is not in it.
-- On a primary it is where the next record goes and not what was written out, which an asynchronous commit is ahead of.
-- Lock: none. Idempotency key: none, it reads. Index: none.
SELECT
    CASE
        WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn()
        ELSE pg_catalog.pg_current_wal_insert_lsn()
    END::text AS lsn
