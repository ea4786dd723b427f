-- When so many of a tenant's results will have expired that it keeps fewer than $2 bytes. No row, or NULL: not by expiry alone.
-- Lock: none. Idempotency key: none, it reads. Index: jobs_kept_of_tenant.
SELECT min(kept.expires_at) AS free_at
FROM (
    SELECT
        jobs.expires_at,
        sum(jobs.usage_bytes) OVER (ORDER BY jobs.expires_at DESC NULLS FIRST) - jobs.usage_bytes AS bytes_after
    FROM export.jobs
    WHERE jobs.tenant_id = $1 AND jobs.state = 'succeeded'
) AS kept
WHERE kept.bytes_after < $2;
