-- What was condemned long enough ago, with all that could still speak for it, in pages: one that must stay does not hide
-- the ones behind it.
-- Lock: none: what is condemned only ever becomes deleted. Idempotency key: none, it reads.
-- Index: candidates_condemned, attempts_pkey, jobs_pkey.
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
    candidate.state = 'condemned'
    AND candidate.condemned_at <= now() - $1 * interval '1 millisecond'
    AND candidate.condemned_at >= $2
    AND (candidate.condemned_at, candidate.candidate_id) > ($2, $3)
ORDER BY candidate.condemned_at, candidate.candidate_id
LIMIT $4
