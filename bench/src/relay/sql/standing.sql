-- Where the relay stands, and how much it has recorded as acknowledged. Lock: none. Index: none.
SELECT cursor.fence, coalesce(sum(batch.events), 0)::bigint AS acknowledged, count(batch.events) AS batches
FROM outbox.cursor AS cursor
LEFT JOIN outbox.batches AS batch ON true
GROUP BY cursor.fence
