-- A key that still works, for its rotation. No row: there is none of this id, or it was revoked, or its time is over.
-- Lock: the key's row until the transaction ends, so that two rotations, or one and a revocation, are in some order.
-- Idempotency key: none, it reads. Index: api_keys_pkey.
SELECT
    api_key_id, service_account_id, scopes, created_by, created_at, valid_seconds, expires_at, revoked_at, rotated_from
FROM export.api_keys
WHERE api_key_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
FOR NO KEY UPDATE;
