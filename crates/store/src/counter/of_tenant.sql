-- One tenant's counters by data set, out of the generation that serves now: pointer and counters in one snapshot. One row
-- with the generation alone when nothing was counted.
-- Lock: none. Idempotency key: none, it reads. Index: the generation's primary key.
SELECT
    pointer.generation,
    counters.dataset, counters.requested, counters.succeeded, counters.failed, counters.cancelled,
    counters.expired, counters.deleted, counters.rows, counters.bytes, counters.updated_at
FROM stats.pointer
LEFT JOIN stats.counters ON counters.generation = pointer.generation AND counters.tenant_id = $1
WHERE pointer.projection = 'stats'
ORDER BY counters.dataset;
