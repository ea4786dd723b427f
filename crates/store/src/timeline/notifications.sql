-- The notifications that a fact about an export caused, without what they say.
-- Lock: none. Idempotency key: none, it reads. Index: notifications_of_export, attempts_pkey.
SELECT
    notifications.notification_id, notifications.event_id, notifications.channel, notifications.target,
    notifications.kind, notifications.state, notifications.attempts, notifications.created_at,
    notifications.settled_at, attempt.started_at AS last_attempt_at
FROM notify.notifications
LEFT JOIN LATERAL (
    SELECT attempts.started_at
    FROM notify.attempts
    WHERE attempts.notification_id = notifications.notification_id
    ORDER BY attempts.attempt DESC
    LIMIT 1
) AS attempt ON true
WHERE notifications.export_id = $1 AND notifications.tenant_id = $2
ORDER BY notifications.created_at, notifications.notification_id;
