-- Lock: none; the caller holds the tenant's row. Idempotency key: none, it reads. Index: jobs_running_of_tenant.
SELECT count(*) AS running
FROM export.jobs
WHERE tenant_id = $1 AND state = 'running' AND lease_until >= now()
