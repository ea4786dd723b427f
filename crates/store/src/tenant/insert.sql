-- Makes a tenant. No row: the name is taken.
-- Lock: none held before. Idempotency key: name. Index: tenants_name_key.
INSERT INTO export.tenants (tenant_id, name, running_limit)
VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING
RETURNING tenant_id, name, state, running_limit, waiting_limit, rows_a_day_limit, bytes_kept_limit, created_at;
