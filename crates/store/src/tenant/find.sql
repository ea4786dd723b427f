-- One tenant.
-- Lock: none. Idempotency key: none, it reads. Index: tenants_pkey.
SELECT tenant_id, name, state, running_limit, waiting_limit, rows_a_day_limit, bytes_kept_limit, created_at
FROM export.tenants
WHERE tenant_id = $1;
