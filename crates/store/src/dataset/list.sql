-- A page of data sets in the order of their names, each in its last state, after the one that the last page ended with.
-- Lock: none. Idempotency key: none, it reads. Index: dataset_revisions_pkey.
SELECT DISTINCT ON (dataset) dataset, revision, declaration, columns, applied_by, applied_at
FROM export.dataset_revisions
WHERE dataset > $1
ORDER BY dataset, revision DESC
LIMIT $2;
