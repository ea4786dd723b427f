-- What a person and an alert want to know at a glance. The partial indexes keep it small whatever the history.
-- Lock: none. Idempotency key: none, it reads. Index: notifications_due, attempts_sending, notifications_unknown.
SELECT
    (SELECT count(*) FROM notify.notifications WHERE state = 'pending') AS pending,
    (SELECT count(*) FROM notify.attempts WHERE state = 'sending') AS sending,
    (SELECT count(*) FROM notify.notifications WHERE state = 'unknown') AS unknown,
    (
        SELECT greatest(extract(EPOCH FROM now() - min(due_at)), 0)::double precision
        FROM notify.notifications
        WHERE state = 'pending'
    ) AS oldest_pending_seconds
