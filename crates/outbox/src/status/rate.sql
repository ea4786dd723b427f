-- The rows that Kafka acknowledged in the last $1 seconds, looking at the last $2 batches at most, and how long ago the
-- first of those batches was. Lock: none. Idempotency key: none, it reads. Index: batches_pkey of every partition, backwards.
SELECT
    coalesce(sum(events), 0)::bigint AS rows,
    count(*) AS batches,
    coalesce(extract(epoch FROM now() - min(acknowledged_at)), 0)::double precision AS seconds
FROM (
    SELECT events, acknowledged_at
    FROM batches
    ORDER BY batch_id DESC
    LIMIT $2
) AS last_ones
WHERE acknowledged_at > now() - make_interval(secs => $1)
