-- What is left of a window after a row: how much, from where and up to where ($1 = from, $2 = to, $4 = what was in progress
-- in `from` and had ended by `to`). Both ends are exact, which takes one pass over all that is left: a later transaction
-- may have drawn a lower seq, so that no part of them proves where the first row is, and a read by `seq` that began below it
-- would step over all that was relayed and is still kept. The pass takes a fraction of the time of reading the same
-- rows, which comes next. Lock: none. Index: events_by_xid of every partition, which holds all that is asked for; `seq + 0`
-- keeps the planner from looking for the ends along the primary key, which leads over the other windows' rows.
SELECT count(*) AS rows, min(seq) AS first_seq, max(seq) AS last_seq
FROM (
    SELECT seq + 0 AS seq
    FROM events
    WHERE xid >= pg_snapshot_xmax($1)
        AND xid < pg_snapshot_xmax($2)
        AND (xid < pg_snapshot_xmin($2) OR pg_visible_in_snapshot(xid, $2))
        AND seq + 0 > $3
    UNION ALL
    SELECT seq + 0 AS seq
    FROM events
    WHERE xid = ANY ($4::xid8[])
        AND xid >= pg_snapshot_xmin($1)
        AND xid < pg_snapshot_xmax($1)
        AND pg_visible_in_snapshot(xid, $2)
        AND NOT pg_visible_in_snapshot(xid, $1)
        AND seq + 0 > $3
) AS left_over
