-- The next page of a large window ($1 = from, $2 = to, $6 = its last row), in the order of the primary key.
-- Lock: none. Index: the primary key of every partition, merged.
SELECT seq, topic, key, header_names, header_values, payload, age_seconds, bytes::bigint AS bytes
FROM (
    SELECT page.*, sum(bytes) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before
    FROM (
        SELECT
            seq, topic, key, header_names, header_values, payload,
            extract(epoch FROM now() - created_at)::double precision AS age_seconds,
            (
                coalesce(octet_length(key), 0) + coalesce(octet_length(payload), 0)
                + octet_length(array_send(header_names)) + octet_length(array_send(header_values))
            ) AS bytes
        FROM events
        WHERE seq > $3
            AND seq <= $6
            AND pg_visible_in_snapshot(xid, $2)
            AND NOT pg_visible_in_snapshot(xid, $1)
        ORDER BY seq
        LIMIT $4
    ) AS page
) AS measured
WHERE bytes_before < $5::bigint
ORDER BY seq
