-- One data set.
-- Lock: none. Idempotency key: none, it reads. Index: datasets_pkey.
SELECT dataset, source_schema, source_relation, tenant_column, key_columns, columns, created_at
FROM export.datasets
WHERE dataset = $1;
