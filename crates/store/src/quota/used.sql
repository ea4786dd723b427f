-- What a tenant may have and has. A day is one of UTC. A waiting export is one row of an index however many wait, up to the
-- limit and one, beyond which the number does not matter; rows and bytes are only summed up where they are limited or $2.
-- Lock: none; exact under the tenant's turn, in a statement after the one that took it. Idempotency key: none, it reads.
-- Index: tenants_pkey, jobs_pending_of_tenant, jobs_running_of_tenant, jobs_rows_of_tenant, jobs_kept_of_tenant.
SELECT
    tenant.running_limit,
    tenant.waiting_limit,
    tenant.rows_a_day_limit,
    tenant.bytes_kept_limit,
    (
        SELECT count(*)
        FROM (
            SELECT FROM export.jobs WHERE jobs.tenant_id = $1 AND jobs.state = 'pending' LIMIT tenant.waiting_limit + 1
        ) AS waiting
    ) AS waiting_used,
    (
        SELECT count(*) FROM export.jobs WHERE jobs.tenant_id = $1 AND jobs.state = 'running'
    ) AS running_used,
    CASE WHEN $2 OR tenant.rows_a_day_limit IS NOT NULL THEN (
        SELECT coalesce(sum(jobs.usage_rows), 0)::bigint
        FROM export.jobs
        WHERE
            jobs.tenant_id = $1 AND jobs.usage_rows IS NOT NULL
            AND jobs.finished_at >= date_trunc('day', now(), 'UTC')
    ) END AS rows_a_day_used,
    CASE WHEN $2 OR tenant.bytes_kept_limit IS NOT NULL THEN (
        SELECT coalesce(sum(jobs.usage_bytes), 0)::bigint
        FROM export.jobs
        WHERE jobs.tenant_id = $1 AND jobs.state = 'succeeded'
    ) END AS bytes_kept_used,
    date_trunc('day', now(), 'UTC') + interval '24 hours' AS day_ends_at,
    now() AS database_now
FROM export.tenants AS tenant
WHERE tenant.tenant_id = $1;
