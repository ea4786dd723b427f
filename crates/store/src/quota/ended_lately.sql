-- How many of a tenant's exports came to a result within the last $2 seconds.
-- Lock: none. Idempotency key: none, it reads. Index: jobs_rows_of_tenant.
SELECT count(*) AS ended
FROM export.jobs
WHERE
    jobs.tenant_id = $1 AND jobs.usage_rows IS NOT NULL
    AND jobs.finished_at >= now() - $2::bigint * interval '1 second';
