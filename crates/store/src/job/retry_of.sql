-- The export that this one is another try of.
-- Lock: none. Idempotency key: none, it reads. Index: jobs_pkey.
SELECT retry_of
FROM export.jobs
WHERE export_id = $1;
