-- The one candidate that counts, inside the transaction that has already moved the job under the same fence.
-- Lock: the candidate's row. Idempotency key: candidates_one_selected. Index: candidates_pkey.
UPDATE export.candidates
SET state = 'selected'
WHERE candidate_id = $1 AND export_id = $2 AND fence = $3 AND state = 'verified'
RETURNING *
