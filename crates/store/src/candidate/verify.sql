-- The object was read back and is whole. A second call with the same measure, after an answer that was lost, changes
-- nothing and gives the row; one with another measure finds nothing.
-- Lock: the candidate's row. Idempotency key: (candidate_id, state, measure). Index: candidates_pkey, jobs_pkey.
UPDATE export.candidates AS candidate
SET state = 'verified', rows = $3, bytes = $4, sha256 = $5, verified_at = coalesce(candidate.verified_at, now())
FROM export.jobs AS job
WHERE
    candidate.candidate_id = $1 AND candidate.fence = $2
    AND (
        candidate.state = 'writing'
        OR (candidate.state = 'verified' AND (candidate.rows, candidate.bytes, candidate.sha256) = ($3, $4, $5))
    )
    AND job.export_id = candidate.export_id AND job.fence = $2 AND job.state = 'running'
RETURNING candidate.*
