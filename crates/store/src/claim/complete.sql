-- The one transition that selects a result. Zero rows: another generation, or an end, came in between.
-- The result's measure is that of its verified candidate, which never changes.
-- Lock: the job's row. Idempotency key: (export_id, fence, state, version) before. Index: jobs_pkey, candidates_pkey.
UPDATE export.jobs
SET
    state = $5,
    version = $6,
    lease_until = NULL,
    due_at = NULL,
    remind_at = NULL,
    result_candidate_id = $7,
    (usage_rows, usage_bytes) = (
        SELECT candidates.rows, candidates.bytes FROM export.candidates WHERE candidates.candidate_id = $7
    ),
    expires_at = $8,
    finished_at = now()
WHERE export_id = $1 AND fence = $2 AND state = $3 AND version = $4
RETURNING *
