-- Registers a data set. No row: one of that name is registered already.
-- Lock: none held before. Idempotency key: dataset. Index: datasets_pkey.
INSERT INTO export.datasets (dataset, source_schema, source_relation, tenant_column, key_columns, columns)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (dataset) DO NOTHING
RETURNING dataset, source_schema, source_relation, tenant_column, key_columns, columns, created_at;
