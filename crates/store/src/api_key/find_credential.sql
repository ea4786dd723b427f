-- All that a request's key is judged by, in one read on each request: so a revocation counts at once.
-- Lock: none. Idempotency key: none, it reads. Index: api_keys_pkey, service_accounts_pkey, tenants_pkey.
SELECT
    api_keys.api_key_id,
    api_keys.secret_sha256,
    api_keys.scopes,
    api_keys.revoked_at IS NOT NULL AS revoked,
    coalesce(api_keys.expires_at <= now(), false) AS expired,
    service_accounts.service_account_id,
    service_accounts.tenant_id,
    coalesce(tenants.state = 'suspended', false) AS suspended
FROM export.api_keys
JOIN export.service_accounts USING (service_account_id)
LEFT JOIN export.tenants ON tenants.tenant_id = service_accounts.tenant_id
WHERE api_keys.api_key_id = $1;
