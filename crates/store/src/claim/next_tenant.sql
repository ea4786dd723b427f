-- Whose turn it is. A lapsed lease does not count as running: its worker is thought dead, and a tenant with one slot
-- could otherwise never take its own lost job back. The count is a guess until it is read again under the lock.
-- Lock: the tenant's row, FOR NO KEY UPDATE so that an acceptance (which takes KEY SHARE on it) is neither blocked
-- nor skipped; SKIP LOCKED because its holder is claiming for this tenant. Idempotency key: none, it reads.
-- Index: jobs_running_of_tenant, jobs_pending_of_tenant, never the whole of jobs.
SELECT tenant.tenant_id, tenant.running_limit
FROM export.tenants AS tenant
CROSS JOIN LATERAL (
    SELECT count(*) AS running
    FROM export.jobs AS job
    WHERE job.tenant_id = tenant.tenant_id AND job.state = 'running' AND job.lease_until >= now()
) AS live
WHERE
    tenant.state = 'active'
    AND tenant.tenant_id <> ALL($1::text[])
    AND live.running < tenant.running_limit
    AND (
        EXISTS (
            SELECT FROM export.jobs AS job
            WHERE job.tenant_id = tenant.tenant_id AND job.state = 'pending' AND job.due_at <= now()
        )
        OR EXISTS (
            SELECT FROM export.jobs AS job
            WHERE job.tenant_id = tenant.tenant_id AND job.state = 'running' AND job.lease_until < now()
        )
    )
ORDER BY live.running, tenant.last_claimed_at NULLS FIRST, tenant.tenant_id
LIMIT 1
FOR NO KEY UPDATE OF tenant SKIP LOCKED
