-- A page of candidates in the order of their ids, with all that is said for and against each.
-- Lock: none. Idempotency key: none, it reads. Index: candidates_pkey, attempts_pkey, jobs_pkey.
SELECT
    candidate.candidate_id, candidate.export_id, job.tenant_id, candidate.object_key, candidate.upload_id,
    candidate.bytes, candidate.state, candidate.created_at, candidate.condemned_at, candidate.condemned_because,
    candidate.deleted_at, candidate.fence,
    attempt.state AS attempt_state,
    job.state AS job_state,
    job.fence AS job_fence,
    job.result_candidate_id IS NOT DISTINCT FROM candidate.candidate_id AS is_result,
    now() AS database_now
FROM export.candidates AS candidate
JOIN export.attempts AS attempt ON attempt.export_id = candidate.export_id AND attempt.fence = candidate.fence
JOIN export.jobs AS job ON job.export_id = candidate.export_id
WHERE
    candidate.candidate_id > $1
    AND ($2::text IS NULL OR candidate.state = $2)
    AND ($3::text IS NULL OR candidate.export_id = $3)
ORDER BY candidate.candidate_id
LIMIT $4
