-- One service account.
-- Lock: none. Idempotency key: none, it reads. Index: service_accounts_pkey.
SELECT service_account_id, tenant_id, name, created_at
FROM export.service_accounts
WHERE service_account_id = $1;
