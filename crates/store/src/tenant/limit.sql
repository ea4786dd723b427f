-- Sets all that a tenant may have. No row: there is no such tenant.
-- Lock: the tenant's row. Idempotency key: tenant_id; a second time changes nothing. Index: tenants_pkey.
UPDATE export.tenants
SET running_limit = $2, waiting_limit = $3, rows_a_day_limit = $4, bytes_kept_limit = $5
WHERE tenant_id = $1
RETURNING tenant_id, name, state, running_limit, waiting_limit, rows_a_day_limit, bytes_kept_limit, created_at;
