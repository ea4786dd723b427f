-- The last state of a data set.
-- Lock: none. Idempotency key: none, it reads. Index: dataset_revisions_pkey, from its end.
SELECT dataset, revision, declaration, columns, applied_by, applied_at
FROM export.dataset_revisions
WHERE dataset = $1
ORDER BY revision DESC
LIMIT 1;
