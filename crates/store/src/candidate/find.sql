-- Lock: none. Idempotency key: none, it reads. Index: candidates_pkey.
SELECT * FROM export.candidates WHERE candidate_id = $1
