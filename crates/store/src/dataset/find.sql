-- One state of a data set.
-- Lock: none. Idempotency key: none, it reads. Index: dataset_revisions_pkey.
SELECT dataset, revision, declaration, columns, applied_by, applied_at
FROM export.dataset_revisions
WHERE dataset = $1 AND revision = $2;
