-- Lets the next fact of each export $1 have a version above the one in $2, which the log holds already.
-- Lock: the jobs' rows. Idempotency key: (export_id, version), which only grows. Index: jobs_pkey.
UPDATE export.jobs
SET version = raised.version
FROM unnest($1::text[], $2::bigint[]) AS raised (export_id, version)
WHERE jobs.export_id = raised.export_id AND jobs.version < raised.version;
