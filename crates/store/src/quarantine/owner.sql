-- Whose an export is. No row: there is no such export.
-- Lock: none. Idempotency key: none, it reads. Index: jobs_pkey.
SELECT tenant_id
FROM export.jobs
WHERE export_id = $1;
