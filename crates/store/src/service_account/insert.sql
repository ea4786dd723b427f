-- Makes a service account; one without a tenant is an operator's. No row: the tenant has one of that name.
-- Lock: key share on the tenant's row. Idempotency key: (tenant_id, name). Index: service_accounts_tenant_id_name_key.
INSERT INTO export.service_accounts (service_account_id, tenant_id, name)
VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, name) DO NOTHING
RETURNING service_account_id, tenant_id, name, created_at;
