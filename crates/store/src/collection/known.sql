-- Which of these objects a row knows.
-- Lock: none. Idempotency key: none, it reads. Index: candidates_object_key_key.
SELECT object_key, state
FROM export.candidates
WHERE object_key = ANY($1)
