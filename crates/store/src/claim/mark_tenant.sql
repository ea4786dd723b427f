-- Lock: the tenant's row, which the claim holds already. Idempotency key: tenant_id; a repetition only moves the
-- time on. Index: tenants_pkey.
UPDATE export.tenants SET last_claimed_at = clock_timestamp() WHERE tenant_id = $1
