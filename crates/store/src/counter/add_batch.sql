-- Adds to the counters of one generation. The batch holds each (tenant, data set) once.
-- Lock: the counters' rows, in the order of their key, so that two batches wait for each other in one order only.
-- Idempotency key: none, it adds: the caller records the facts' event keys in the same transaction.
-- Index: the generation's primary key.
INSERT INTO stats.counters (
    generation, tenant_id, dataset, requested, succeeded, failed, cancelled, expired, deleted, rows, bytes
)
SELECT
    $1, d.tenant_id, d.dataset, d.requested, d.succeeded, d.failed, d.cancelled, d.expired, d.deleted, d.rows, d.bytes
FROM UNNEST(
    $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
    $10::bigint[], $11::bigint[]
) AS d (tenant_id, dataset, requested, succeeded, failed, cancelled, expired, deleted, rows, bytes)
ORDER BY d.tenant_id, d.dataset
ON CONFLICT (generation, tenant_id, dataset) DO UPDATE SET
    requested = counters.requested + EXCLUDED.requested,
    succeeded = counters.succeeded + EXCLUDED.succeeded,
    failed = counters.failed + EXCLUDED.failed,
    cancelled = counters.cancelled + EXCLUDED.cancelled,
    expired = counters.expired + EXCLUDED.expired,
    deleted = counters.deleted + EXCLUDED.deleted,
    rows = counters.rows + EXCLUDED.rows,
    bytes = counters.bytes + EXCLUDED.bytes,
    updated_at = now();
