-- How much of a window is left after a row ($1 = from, $2 = to, $4 = what was in progress in `from` and had ended by `to`).
-- Lock: none. Index: events_by_xid of every partition, which holds all that is asked for.
SELECT count(*) AS rows, max(seq) AS last_seq
FROM (
    SELECT seq
    FROM events
    WHERE xid >= pg_snapshot_xmax($1)
        AND xid < pg_snapshot_xmax($2)
        AND pg_visible_in_snapshot(xid, $2)
        AND seq > $3
    UNION ALL
    SELECT seq
    FROM events
    WHERE xid = ANY ($4::xid8[])
        AND pg_visible_in_snapshot(xid, $2)
        AND NOT pg_visible_in_snapshot(xid, $1)
        AND seq > $3
) AS left_over
