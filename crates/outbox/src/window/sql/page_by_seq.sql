-- The next page of a large window ($1 = from, $2 = to, $6 = its last row), in the order of the primary key. Every row after
-- $3 is looked at, whosoever it is: it must stand right before rows of the window. What lies below
-- the one snapshot's xmin and beyond the other's xmax is told apart by comparing; only the rest is looked up.
-- Lock: none. Index: the primary key of every partition, merged.
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
        FROM events
        WHERE seq > $3
            AND seq <= $6
            AND (xid < pg_snapshot_xmin($2) OR pg_visible_in_snapshot(xid, $2))
            AND (xid >= pg_snapshot_xmax($1) OR NOT pg_visible_in_snapshot(xid, $1))
        ORDER BY seq
        LIMIT $4
    ) AS page
) AS measured
WHERE bytes_before < $5::bigint
ORDER BY seq
