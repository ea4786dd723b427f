-- The object of a condemned candidate is gone. Only the row remains of it.
-- Lock: the candidate's row. Idempotency key: (candidate_id, state). Index: candidates_pkey.
UPDATE export.candidates
SET state = 'deleted', deleted_at = now()
WHERE candidate_id = $1 AND state = 'condemned'
