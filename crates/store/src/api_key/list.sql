-- A page of keys in the order of their ids, which is that of their making, after the one that the last page ended with; of
-- the service account $1 alone, where that is said.
-- Lock: none. Idempotency key: none, it reads. Index: api_keys_pkey, or api_keys_of_service_account.
SELECT
    api_key_id, service_account_id, scopes, created_by, created_at, valid_seconds, expires_at, revoked_at, rotated_from
FROM export.api_keys
WHERE api_key_id > $2 AND ($1::text IS NULL OR service_account_id = $1)
ORDER BY api_key_id
LIMIT $3;
