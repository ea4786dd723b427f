-- One tenant, for a decision about it.
-- Lock: the tenant's row until the transaction ends, so that what was not said stays as it is read here.
-- Idempotency key: none, it reads. Index: tenants_pkey.
SELECT tenant_id, name, state, running_limit, waiting_limit, rows_a_day_limit, bytes_kept_limit, created_at
FROM export.tenants
WHERE tenant_id = $1
FOR NO KEY UPDATE;
