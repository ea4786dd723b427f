-- The rows of before a restore that are still to be sent again, counted up to $6, and the age of the first: seq above $5 up to
-- $4 (the last of them), without what `from` ($1) sees and without what `to` ($2) sees up to $3 = after_seq.
-- Lock: none. Idempotency key: none, it reads. Index: the primary key of every partition.
SELECT count(*) AS rows, min(created_at) AS created_at
FROM (
    SELECT created_at
    FROM events
    WHERE seq > $5
        AND seq <= $4
        AND NOT pg_visible_in_snapshot(xid, $1)
        AND NOT (pg_visible_in_snapshot(xid, $2) AND seq <= $3)
    ORDER BY seq
    LIMIT $6
) AS counted
