-- When the oldest of what is left of a window came to be ($1 = from, $2 = to, $3 = the last row that was passed), among
-- those of the next $4 values of seq, whosoever took them and whether they became rows or not. Lock: none.
-- Idempotency key: none, it reads. Index: the primary key of every partition.
SELECT min(created_at) AS created_at
FROM events
WHERE seq > $3
    AND seq <= $3::bigint + $4::bigint
    AND pg_visible_in_snapshot(xid, $2)
    AND NOT pg_visible_in_snapshot(xid, $1)
