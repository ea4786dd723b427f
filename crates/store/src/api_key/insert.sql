-- Makes an API key that is good for $6 seconds, or for ever when that is null; as the one that follows $7, where that is said.
-- Lock: key share on the service account's row. Idempotency key: api_key_id. Index: api_keys_pkey.
INSERT INTO export.api_keys (
    api_key_id, service_account_id, secret_sha256, scopes, created_by, valid_seconds, expires_at, rotated_from
)
VALUES ($1, $2, $3, $4, $5, $6, now() + $6::bigint * interval '1 second', $7)
RETURNING
    api_key_id, service_account_id, scopes, created_by, created_at, valid_seconds, expires_at, revoked_at, rotated_from;
