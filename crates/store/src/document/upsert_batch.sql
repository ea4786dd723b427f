-- Writes documents of one generation, each only over a lower version: a late copy or an older fact changes nothing, and
-- a tombstone stays. The batch holds each export once.
-- Lock: the documents' rows, in the batch's order by export_id. Idempotency key: (generation, export_id, version).
-- Index: the generation's primary key.
INSERT INTO search.documents (
    generation, export_id, tenant_id, version, deleted, state, dataset, format, name, labels,
    rows, bytes, accepted_at, finished_at, tokens, event_id
)
SELECT
    $1, d.export_id, d.tenant_id, d.version, d.deleted, d.state, d.dataset, d.format, d.name, d.labels,
    d.rows, d.bytes, d.accepted_at, d.finished_at, CAST(d.tokens AS tsvector), d.event_id
FROM UNNEST(
    $2::text[], $3::text[], $4::bigint[], $5::boolean[], $6::text[], $7::text[], $8::text[], $9::text[], $10::jsonb[],
    $11::bigint[], $12::bigint[], $13::timestamptz[], $14::timestamptz[], $15::text[], $16::text[]
) AS d (
    export_id, tenant_id, version, deleted, state, dataset, format, name, labels,
    rows, bytes, accepted_at, finished_at, tokens, event_id
)
ORDER BY d.export_id
ON CONFLICT (generation, export_id) DO UPDATE SET
    tenant_id = EXCLUDED.tenant_id,
    version = EXCLUDED.version,
    deleted = EXCLUDED.deleted,
    state = EXCLUDED.state,
    dataset = EXCLUDED.dataset,
    format = EXCLUDED.format,
    name = EXCLUDED.name,
    labels = EXCLUDED.labels,
    rows = EXCLUDED.rows,
    bytes = EXCLUDED.bytes,
    accepted_at = EXCLUDED.accepted_at,
    finished_at = EXCLUDED.finished_at,
    tokens = EXCLUDED.tokens,
    event_id = EXCLUDED.event_id,
    applied_at = now()
WHERE documents.version < EXCLUDED.version;
