-- A page of tenants in the order of their ids, after the one that the last page ended with.
-- Lock: none. Idempotency key: none, it reads. Index: tenants_pkey.
SELECT tenant_id, name, state, running_limit, waiting_limit, rows_a_day_limit, bytes_kept_limit, created_at
FROM export.tenants
WHERE tenant_id > $1
ORDER BY tenant_id
LIMIT $2;
