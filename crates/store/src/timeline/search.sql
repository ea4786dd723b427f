-- What the generation of search that readers are served from holds of an export.
-- Lock: none. Idempotency key: none, it reads. Index: documents_pkey of the generation's partition.
SELECT documents.version, documents.event_id, documents.applied_at
FROM search.documents
JOIN search.pointer ON pointer.projection = 'search' AND pointer.generation = documents.generation
WHERE documents.export_id = $1 AND documents.tenant_id = $2;
