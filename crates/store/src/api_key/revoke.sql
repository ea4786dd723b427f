-- Revokes a key; the first time counts. No row: there is no such key.
-- Lock: the key's row. Idempotency key: api_key_id. Index: api_keys_pkey.
UPDATE export.api_keys
SET revoked_at = coalesce(revoked_at, now())
WHERE api_key_id = $1
RETURNING
    api_key_id, service_account_id, scopes, created_by, created_at, valid_seconds, expires_at, revoked_at, rotated_from;
