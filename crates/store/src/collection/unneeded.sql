-- What nobody selected and nobody works on: its attempt is over, or another generation has the job. Both stay so for ever,
-- so no lock on attempt or job is needed. The age only delays.
-- Lock: the candidates' rows, FOR NO KEY UPDATE SKIP LOCKED. Idempotency key: none, it reads.
-- Index: candidates_unselected, attempts_pkey, jobs_pkey.
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
    candidate.state IN ('writing', 'verified')
    AND candidate.created_at <= now() - $1 * interval '1 millisecond'
    AND (attempt.state <> 'running' OR job.fence > candidate.fence)
ORDER BY candidate.created_at
LIMIT $2
FOR NO KEY UPDATE OF candidate SKIP LOCKED
