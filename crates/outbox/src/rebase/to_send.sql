-- What is sent of the rows above $4 up to $5, by topic: those that `from` ($1) does not see, without those that `to` ($2)
-- sees up to $3 = after_seq. Lock: none. Idempotency key: none, it reads. Index: the primary key of every partition.
SELECT topic, count(*) AS rows, min(seq) AS first_seq, max(seq) AS last_seq
FROM events
WHERE seq > $4
    AND seq <= $5
    AND NOT pg_visible_in_snapshot(xid, $1)
    AND NOT (pg_visible_in_snapshot(xid, $2) AND seq <= $3)
GROUP BY topic
ORDER BY topic
