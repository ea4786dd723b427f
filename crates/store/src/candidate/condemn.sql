-- Nobody needs the candidate any longer, for good. $4 holds the states that the lifecycle lets be condemned.
-- Lock: the candidate's row. Idempotency key: (candidate_id, state). Index: candidates_pkey.
UPDATE export.candidates
SET state = $2, condemned_at = now(), condemned_because = $3
WHERE candidate_id = $1 AND state = ANY($4)
