-- The upload of a candidate has a name in the store, by which it can be aborted when it never ends. Committed before the
-- first part is sent, so an upload that no row names holds no byte.
-- Lock: the candidate's row. Idempotency key: (candidate_id, upload_id). Index: candidates_pkey, jobs_pkey.
UPDATE export.candidates AS candidate
SET upload_id = $3
FROM export.jobs AS job
WHERE
    candidate.candidate_id = $1 AND candidate.fence = $2 AND candidate.state = 'writing'
    AND (candidate.upload_id IS NULL OR candidate.upload_id = $3)
    AND job.export_id = candidate.export_id AND job.fence = $2 AND job.state = 'running'
