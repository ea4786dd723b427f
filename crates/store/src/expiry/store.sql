-- The result's time is over: state and version, and nothing else, because nothing else of the job changes.
-- Lock: the job's row. Idempotency key: (export_id, state, version) before. Index: jobs_pkey.
UPDATE export.jobs
SET state = $4, version = $5
WHERE export_id = $1 AND state = $2 AND version = $3
RETURNING *
