-- Which rows were surely read in from elsewhere, and which were surely written here. A writer's row names the transaction
-- that inserted it, so an inserter with rows of several transactions read them in; so did whoever inserted a row whose
-- transaction this server has not given out yet. (Compared in 32 bits, because a tuple's xmin has no more; a
-- subtransaction's rows have another xmin than they name, and all name the same.)
-- Lock: none. Idempotency key: none, it reads. Index: none, it reads the whole table once.
SELECT
    max(last_seq) FILTER (WHERE is_foreign) AS last_foreign_seq,
    min(first_own_seq) FILTER (WHERE NOT is_foreign) AS first_own_seq
FROM (
    SELECT
        max(seq) AS last_seq,
        min(seq) FILTER (WHERE named = inserter::text::bigint) AS first_own_seq,
        min(named) <> max(named) OR max(xid) >= pg_snapshot_xmax(pg_current_snapshot()) AS is_foreign
    FROM (
        SELECT seq, xid, xmin AS inserter, (xid::text::numeric % 4294967296)::bigint AS named
        FROM events
    ) AS events
    GROUP BY inserter
) AS inserters
