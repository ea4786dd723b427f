-- Lets a key end $2 seconds from now, unless it ends before.
-- Lock: the key's row. Idempotency key: api_key_id; a second time never lengthens its life. Index: api_keys_pkey.
UPDATE export.api_keys
SET expires_at = least(expires_at, now() + $2::bigint * interval '1 second')
WHERE api_key_id = $1
RETURNING
    api_key_id, service_account_id, scopes, created_by, created_at, valid_seconds, expires_at, revoked_at, rotated_from;
