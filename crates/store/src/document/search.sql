-- The newest documents of one tenant that match, out of the generation that serves now: pointer and documents in one
-- snapshot. One row with the generation alone when nothing matches.
-- Lock: none. Idempotency key: none, it reads. Index: documents_tokens, or documents_of_tenant for a common word.
SELECT
    pointer.generation,
    found.export_id, found.version, found.state, found.dataset, found.format, found.name, found.labels,
    found.rows, found.bytes, found.accepted_at, found.finished_at
FROM search.pointer
LEFT JOIN LATERAL (
    SELECT
        export_id, version, state, dataset, format, name, labels, rows, bytes, accepted_at, finished_at
    FROM search.documents
    WHERE documents.generation = pointer.generation
        AND documents.tenant_id = $1
        AND documents.tokens @@ CAST($2 AS tsquery)
        AND NOT documents.deleted
    ORDER BY documents.accepted_at DESC, documents.export_id DESC
    LIMIT $3
) AS found ON true
WHERE pointer.projection = 'search'
ORDER BY found.accepted_at DESC, found.export_id DESC;
