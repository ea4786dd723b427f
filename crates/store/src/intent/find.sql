-- The export that stands for an intent.
-- Lock: none. Idempotency key: none, it reads. Index: intents_pkey.
SELECT export_id, request_sha256, request, created_at
FROM export.intents
WHERE service_account_id = $1 AND operation = $2 AND idempotency_key = $3;
