-- Every try of an export and the candidate it wrote, oldest first.
-- Lock: none. Idempotency key: none, it reads. Index: attempts_pkey, candidates_of_attempt.
SELECT
    attempts.number, attempts.fence, attempts.worker, attempts.state, attempts.claimed_at, attempts.ended_at,
    attempts.rows_done, attempts.bytes_done, attempts.error_code, attempts.error_detail,
    candidate.candidate_id, candidate.rows, candidate.bytes, candidate.verified_at
FROM export.attempts
LEFT JOIN LATERAL (
    SELECT candidates.candidate_id, candidates.rows, candidates.bytes, candidates.verified_at
    FROM export.candidates
    WHERE candidates.export_id = attempts.export_id AND candidates.fence = attempts.fence
    ORDER BY candidates.verified_at NULLS LAST, candidates.created_at
    LIMIT 1
) AS candidate ON true
WHERE attempts.export_id = $1
ORDER BY attempts.fence;
