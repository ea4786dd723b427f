-- Who holds the lease, and for how long. Lock: none. Index: cursors_pkey.
-- (An infinite lease_until is never subtracted: Postgres refuses to.)
SELECT
    holder,
    fence,
    CASE
        WHEN lease_until <= now() THEN 0
        ELSE extract(epoch FROM lease_until - now())
    END::double precision AS remaining_seconds
FROM outbox.cursors
WHERE outbox = $1
