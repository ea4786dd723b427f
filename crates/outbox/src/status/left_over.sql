-- When the oldest of what is left of a window came to be ($1 = from, $2 = to, $3 = the last row that was passed), among the
-- next $4 rows in the order of seq, whosoever they are, and how many those were. Lock: none.
-- Idempotency key: none, it reads. Index: the primary key of every partition, merged.
SELECT
    count(*) AS looked_at,
    min(created_at) FILTER (
        WHERE pg_visible_in_snapshot(xid, $2) AND NOT pg_visible_in_snapshot(xid, $1)
    ) AS created_at
FROM (
    SELECT xid, created_at
    FROM events
    WHERE seq > $3
    ORDER BY seq
    LIMIT $4
) AS next_ones
