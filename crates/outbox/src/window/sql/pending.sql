-- How many committed rows wait that a snapshot does not see, counted up to $4 ($1 = the last transaction that it could have
-- seen, $2 = those in progress in it, $3 = the last row of before a restore). Lock: none. Index: events_by_xid of every
-- partition; `seq + 0` keeps the planner from any other. What a transaction that is still in progress wrote is stepped
-- over and not looked at: it may be much, and this is asked often.
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
SELECT count(*)
FROM (
    (
        SELECT found.seq
        FROM spans CROSS JOIN LATERAL (
            SELECT seq FROM events
            WHERE xid > after_xid AND xid < before_xid AND seq + 0 > $3
            ORDER BY xid
            LIMIT $4
        ) AS found
        LIMIT $4
    )
    UNION ALL
    (
        SELECT found.seq
        FROM present, unnest($2::xid8[]) AS ended CROSS JOIN LATERAL (
            SELECT seq FROM events
            WHERE xid = ended AND seq + 0 > $3
            ORDER BY xid
            LIMIT $4
        ) AS found
        WHERE pg_visible_in_snapshot(ended, present.snapshot)
        LIMIT $4
    )
) AS waiting
