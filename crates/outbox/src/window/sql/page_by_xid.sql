-- The next page of a window ($1 = from, $2 = to, $6 = what was in progress in `from` and had ended by `to`), through the
-- transactions: cheap however many rows and however old an open transaction lie between the two snapshots.
-- Lock: none. Index: events_by_xid of every partition. Two things keep the planner to it whatever the statistics say of a
-- table of few large transactions: `seq + 0` can be found and ordered by no index, and the bounds beside the list are
-- taken for selective.
SELECT seq, topic, key, header_names, header_values, payload, bytes::bigint AS bytes
FROM (
    SELECT page.*, sum(bytes) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before
    FROM (
        SELECT
            seq, topic, key, header_names, header_values, payload,
            (
                coalesce(octet_length(key), 0) + coalesce(octet_length(payload), 0)
                + pg_column_size(header_names) + pg_column_size(header_values)
            ) AS bytes
        FROM (
            SELECT seq + 0 AS seq, topic, key, header_names, header_values, payload
            FROM events
            WHERE xid >= pg_snapshot_xmax($1)
                AND xid < pg_snapshot_xmax($2)
                AND (xid < pg_snapshot_xmin($2) OR pg_visible_in_snapshot(xid, $2))
                AND seq + 0 > $3
            UNION ALL
            SELECT seq + 0 AS seq, topic, key, header_names, header_values, payload
            FROM events
            WHERE xid = ANY ($6::xid8[])
                AND xid >= pg_snapshot_xmin($1)
                AND xid < pg_snapshot_xmax($1)
                AND pg_visible_in_snapshot(xid, $2)
                AND NOT pg_visible_in_snapshot(xid, $1)
                AND seq + 0 > $3
        ) AS found
        ORDER BY seq
        LIMIT $4
    ) AS page
) AS measured
WHERE bytes_before < $5::bigint
ORDER BY seq
