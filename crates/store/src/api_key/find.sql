-- One API key, without its secret's digest.
-- Lock: none. Idempotency key: none, it reads. Index: api_keys_pkey.
SELECT
    api_key_id, service_account_id, scopes, created_by, created_at, valid_seconds, expires_at, revoked_at, rotated_from
FROM export.api_keys
WHERE api_key_id = $1;
