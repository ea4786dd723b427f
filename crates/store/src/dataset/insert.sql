-- The next state of a data set. No row: there is one of that number already.
-- Lock: none held before. Idempotency key: (dataset, revision). Index: dataset_revisions_pkey.
INSERT INTO export.dataset_revisions (dataset, revision, declaration, columns, applied_by)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (dataset, revision) DO NOTHING
RETURNING dataset, revision, declaration, columns, applied_by, applied_at;
