-- The object was read back and is whole. A second call finds no `writing` row and changes nothing.
-- Lock: the candidate's row. Idempotency key: (candidate_id, state). Index: candidates_pkey, jobs_pkey.
UPDATE export.candidates AS candidate
SET state = 'verified', rows = $3, bytes = $4, sha256 = $5, verified_at = now()
FROM export.jobs AS job
WHERE
    candidate.candidate_id = $1 AND candidate.fence = $2 AND candidate.state = 'writing'
    AND job.export_id = candidate.export_id AND job.fence = $2 AND job.state = 'running'
RETURNING candidate.*
