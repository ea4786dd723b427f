-- The time that a snapshot taken from now on is of: on a primary, now; on a standby, that of the last commit which it has
-- replayed, by the primary's clock, and none where it has replayed none. Asked for before the snapshot: what was
-- committed by then is in it.
-- Lock: none. Idempotency key: none, it reads. Index: none.
SELECT
    pg_catalog.pg_is_in_recovery() AS is_standby,
    CASE
        WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_xact_replay_timestamp()
        ELSE pg_catalog.clock_timestamp()
    END AS since
