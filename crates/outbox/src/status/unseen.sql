-- When the oldest of the rows came to be that a snapshot does not see ($1 = the last transaction that it could have seen, $2 =
-- those in progress in it, $3 = the last row of before a restore): the earliest of the first $4 of each stretch of
-- transactions that have ended. What a transaction that is still in progress wrote is stepped over and not looked at.
-- Lock: none. Idempotency key: none, it reads. Index: events_by_xid of every partition. Two things keep the planner to it
-- whatever the statistics say of a table of few large transactions: `seq + 0` can be found by no index, and the bounds beside
-- the equality are taken for selective.
WITH present AS MATERIALIZED (
    SELECT pg_current_snapshot() AS snapshot
), edges AS (
    SELECT $1::xid8 AS xid
    UNION ALL
    SELECT xid FROM present, pg_snapshot_xip(snapshot) AS xid WHERE xid > $1::xid8
    UNION ALL
    SELECT pg_snapshot_xmax(snapshot) FROM present
), spans AS (
    SELECT xid AS after_xid, lead(xid) OVER (ORDER BY xid) AS before_xid FROM edges
)
SELECT min(created_at) AS created_at
FROM (
    SELECT found.created_at
    FROM spans CROSS JOIN LATERAL (
        SELECT created_at FROM events
        WHERE xid > after_xid AND xid < before_xid AND seq + 0 > $3
        ORDER BY xid
        LIMIT $4
    ) AS found
    UNION ALL
    SELECT found.created_at
    FROM present, unnest($2::xid8[]) AS ended CROSS JOIN LATERAL (
        SELECT created_at FROM events
        WHERE xid = ended AND xid >= ended AND xid <= ended AND seq + 0 > $3
        ORDER BY xid
        LIMIT $4
    ) AS found
    WHERE pg_visible_in_snapshot(ended, present.snapshot)
) AS first_ones
