-- How many keys could be used for an operator's work right now.
-- Lock: none. Idempotency key: none, it reads. Index: none, the table is small and this is asked once in a life.
SELECT count(*) AS usable
FROM export.api_keys
WHERE 'ops' = ANY (scopes)
    AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > now());
