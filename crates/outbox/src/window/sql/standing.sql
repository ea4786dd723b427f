-- Who holds the lease, and for how long; whose transactions the window counts, and who answers. Lock: none.
-- Index: cursor_pkey. (An infinite lease_until is never subtracted: Postgres refuses to.)
SELECT
    cursor.holder,
    cursor.fence,
    CASE
        WHEN cursor.lease_until <= now() THEN 0
        ELSE extract(epoch FROM cursor.lease_until - now())
    END::double precision AS remaining_seconds,
    cursor.system_identifier, cursor.timeline,
    server.system_identifier AS found_system_identifier, server.timeline AS found_timeline
FROM cursor, server_identity() AS server
