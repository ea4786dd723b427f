-- How much of a window is left after a row, counted up to $5, and a row behind which none of it lies ($1 = from, $2 = to,
-- $4 = what was in progress in `from` and had ended by `to`). Lock: none. Index: events_by_xid of every partition, which
-- holds all that is counted; the primary key of every partition, for its last row.
SELECT count(*) AS rows, (SELECT max(seq) FROM events) AS last_seq
FROM (
    SELECT seq
    FROM events
    WHERE xid >= pg_snapshot_xmax($1)
        AND xid < pg_snapshot_xmax($2)
        AND (xid < pg_snapshot_xmin($2) OR pg_visible_in_snapshot(xid, $2))
        AND seq + 0 > $3
    UNION ALL
    SELECT seq
    FROM events
    WHERE xid = ANY ($4::xid8[])
        AND xid >= pg_snapshot_xmin($1)
        AND xid < pg_snapshot_xmax($1)
        AND pg_visible_in_snapshot(xid, $2)
        AND NOT pg_visible_in_snapshot(xid, $1)
        AND seq + 0 > $3
    LIMIT $5
) AS left_over
