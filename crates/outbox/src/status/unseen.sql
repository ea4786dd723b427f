-- When the oldest of the rows above $3 came to be that some stretches of transactions wrote ($1 = the first one of each, $2 =
-- the last, ascending): the first row of each of the first $4 transactions that have any. What lies between the
-- stretches, such as all that a transaction wrote that is still in progress, is stepped over and not looked at; what was rolled
-- back is looked at until Postgres has marked it, and a row up to $3 only in the index. Lock: none.
-- Idempotency key: none, it reads. Index: events_by_xid of every partition, once for each stretch and transaction. The
-- planner keeps to it whatever the statistics say of a table of few large transactions, because it knows none of the bounds:
-- that of seq is a query of its own for that.
SELECT min(created_at) AS created_at
FROM (
    SELECT first_rows.created_at
    FROM unnest($1::xid8[], $2::xid8[]) AS stretch (first_xid, last_xid) CROSS JOIN LATERAL (
        WITH RECURSIVE first_rows AS (
            (
                SELECT xid, created_at FROM events
                WHERE xid >= first_xid AND xid <= last_xid AND seq > (SELECT $3::bigint)
                ORDER BY xid
                LIMIT 1
            )
            UNION ALL
            SELECT following.xid, following.created_at
            FROM first_rows CROSS JOIN LATERAL (
                SELECT xid, created_at FROM events
                WHERE xid > first_rows.xid AND xid <= last_xid AND seq > (SELECT $3::bigint)
                ORDER BY xid
                LIMIT 1
            ) AS following
        )
        SELECT created_at FROM first_rows
    ) AS first_rows
    LIMIT $4
) AS first_ones
