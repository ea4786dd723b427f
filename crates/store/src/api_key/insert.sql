-- Makes an API key that is good for $6 seconds, or for ever when that is null.
-- Lock: key share on the service account's row. Idempotency key: api_key_id. Index: api_keys_pkey.
INSERT INTO export.api_keys (api_key_id, service_account_id, secret_sha256, scopes, created_by, expires_at)
VALUES ($1, $2, $3, $4, $5, now() + $6::double precision * interval '1 second')
RETURNING api_key_id, service_account_id, scopes, created_by, created_at, expires_at, revoked_at;
