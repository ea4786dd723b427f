-- The operators' service account of a name.
-- Lock: none. Idempotency key: none, it reads. Index: service_accounts_tenant_id_name_key.
SELECT service_account_id, tenant_id, name, created_at
FROM export.service_accounts
WHERE tenant_id IS NULL AND name = $1;
