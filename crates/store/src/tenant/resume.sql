-- Lets a suspended tenant go on: its keys work with the next request, its waiting exports are claimed again. No row:
-- there is no such tenant.
-- Lock: the tenant's row. Idempotency key: tenant_id; a second time changes nothing. Index: tenants_pkey.
UPDATE export.tenants
SET state = 'active'
WHERE tenant_id = $1
RETURNING tenant_id, name, state, running_limit, waiting_limit, rows_a_day_limit, bytes_kept_limit, created_at;
