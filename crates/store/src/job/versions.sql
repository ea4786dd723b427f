-- The versions of the exports $1, of those that there are. Lock: none. Idempotency key: none, it reads. Index: jobs_pkey.
SELECT export_id, version
FROM export.jobs
WHERE export_id = ANY ($1);
