-- When the oldest of the rows that waiting.sql counts came to be: the earliest of the first few in the order of their
-- transactions. Parameters as there. Lock: none. Idempotency key: none, it reads. Index: events_by_xid of every partition.
SELECT min(created_at) AS created_at
FROM (
    (
        SELECT created_at
        FROM events
        WHERE xid >= pg_snapshot_xmax($1)
            AND xid < pg_snapshot_xmax(pg_current_snapshot())
            AND seq > $4
            AND NOT (pg_visible_in_snapshot(xid, $2) AND seq <= $3)
        ORDER BY xid
        LIMIT $6
    )
    UNION ALL
    (
        SELECT created_at
        FROM events
        WHERE xid = ANY ($5)
            AND seq > $4
            AND NOT (pg_visible_in_snapshot(xid, $2) AND seq <= $3)
        ORDER BY xid
        LIMIT $6
    )
) AS first_ones
