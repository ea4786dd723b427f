-- The row of an object before its upload starts, written only by the attempt that holds the job.
-- Lock: key share on the attempt (its foreign key). Idempotency key: candidate_id, object_key. Index: jobs_pkey.
INSERT INTO export.candidates (candidate_id, export_id, fence, object_key, state)
SELECT $1, job.export_id, job.fence, $4, 'writing'
FROM export.jobs AS job
WHERE job.export_id = $2 AND job.fence = $3 AND job.state = 'running'
