-- The next page of a hold's rows that are to be sent ($1 = hold_id, $2 = the last one that was read, $3 = rows, $4 = bytes),
-- which ends before the first refused row: what follows that one waits. Lock: none. Index: parked_open.
SELECT seq, topic, key, header_names, header_values, payload, bytes::bigint AS bytes
FROM (
    SELECT page.*, sum(bytes) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before
    FROM (
        SELECT
            seq, topic, key, header_names, header_values, payload,
            (
                coalesce(octet_length(key), 0) + coalesce(octet_length(payload), 0)
                + octet_length(array_send(header_names)) + octet_length(array_send(header_values))
            ) AS bytes
        FROM parked
        WHERE hold_id = $1
            AND state IN ('refused', 'waiting')
            AND seq > $2
            AND seq < coalesce(
                (
                    SELECT seq FROM parked
                    WHERE hold_id = $1 AND state IN ('refused', 'waiting') AND state = 'refused'
                    ORDER BY seq
                    LIMIT 1
                ),
                9223372036854775807
            )
        ORDER BY seq
        LIMIT $3
    ) AS page
) AS measured
WHERE bytes_before < $4::bigint
ORDER BY seq
