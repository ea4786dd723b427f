-- Where the relay stands, and how much it has recorded as acknowledged. Lock: none. Index: none.
SELECT
    cursor.fence,
    cursor.from_snapshot::text = cursor.to_snapshot::text AS is_drained,
    (SELECT coalesce(sum(events), 0) FROM outbox.batches)::bigint AS acknowledged,
    (SELECT count(*) FROM outbox.batches) AS batches
FROM outbox.cursor AS cursor
