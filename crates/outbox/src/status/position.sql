-- Who relays the outbox and how far. Lock: none. Idempotency key: none, it reads. Index: cursor_pkey.
-- (An infinite lease_until is never subtracted: Postgres refuses to.)
SELECT
    holder, fence,
    CASE WHEN lease_until <= now() THEN 0 ELSE extract(epoch FROM lease_until - now()) END::double precision
        AS remaining_seconds,
    from_snapshot, to_snapshot, after_seq, floor_seq, resend_after_seq, system_identifier, timeline, moved_at,
    now() AS asked_at, pg_current_snapshot() AS ended_by_then
FROM cursor
