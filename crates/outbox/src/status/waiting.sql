-- The committed rows that the cursor has not passed, counted up to $6: those that `from` ($1) does not see, without those
-- of the window up to `to` ($2) that were acknowledged ($3 = after_seq) and without those up to $4, the last row of before
-- a restore. $5 are the transactions in progress in `from`. Lock: none. Idempotency key: none, it reads. Index:
-- events_by_xid of every partition, which holds all that is asked for.
SELECT count(*) AS rows
FROM (
    SELECT
    FROM (
        SELECT seq
        FROM events
        WHERE xid >= pg_snapshot_xmax($1)
            AND xid < pg_snapshot_xmax(pg_current_snapshot())
            AND seq > $4
            AND NOT (pg_visible_in_snapshot(xid, $2) AND seq <= $3)
        UNION ALL
        SELECT seq
        FROM events
        WHERE xid = ANY ($5)
            AND seq > $4
            AND NOT (pg_visible_in_snapshot(xid, $2) AND seq <= $3)
    ) AS found
    LIMIT $6
) AS counted
