-- The row of an object before its upload starts, written only by the attempt that holds the job. A second call with the
-- same values, after an answer that was lost, changes nothing and counts as one row too.
-- Lock: key share on the attempt (its foreign key). Idempotency key: candidate_id, object_key. Index: jobs_pkey,
-- candidates_pkey.
INSERT INTO export.candidates AS candidate (candidate_id, export_id, fence, object_key, as_of_lsn, as_of_at, state)
SELECT $1, job.export_id, job.fence, $4, $5, $6, 'writing'
FROM export.jobs AS job
WHERE job.export_id = $2 AND job.fence = $3 AND job.state = 'running'
ON CONFLICT (candidate_id) DO UPDATE SET state = 'writing'
WHERE
    candidate.export_id = excluded.export_id AND candidate.fence = excluded.fence
    AND candidate.object_key = excluded.object_key AND candidate.state = 'writing'
