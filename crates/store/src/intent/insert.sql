-- Claims an intent for an export. Waits for an open transaction that claims the same one. No row: it stands already.
-- The job follows in the same transaction (the reference is deferred), so no other writer ever sees one alone.
-- Lock: key share on the service account's row. Idempotency key: the primary key. Index: intents_pkey.
INSERT INTO export.intents (service_account_id, operation, idempotency_key, request_sha256, request, export_id)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (service_account_id, operation, idempotency_key) DO NOTHING
RETURNING created_at;
