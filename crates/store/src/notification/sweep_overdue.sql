-- What is found in `sending` after its deadline: nobody knows whether it was sent, so it is unknown and stays so until
-- it is settled. The grace lets a sender record an outcome that came at the last moment.
-- Lock: the attempts, skipping those whose outcome is being written, then their notifications.
-- Idempotency key: (notification_id, attempt, 'sending'). Index: attempts_sending.
WITH overdue AS (
    SELECT notification_id, attempt
    FROM notify.attempts
    WHERE state = 'sending' AND deadline_at < now() - $1::bigint * interval '1 millisecond'
    ORDER BY deadline_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
),

ended AS (
    UPDATE notify.attempts AS attempt
    SET state = 'unknown', ended_at = now(), evidence = $3
    FROM overdue
    WHERE attempt.notification_id = overdue.notification_id AND attempt.attempt = overdue.attempt
    RETURNING attempt.notification_id, attempt.attempt
)

UPDATE notify.notifications AS notification
SET state = 'unknown', settled_at = now()
FROM ended
WHERE
    notification.notification_id = ended.notification_id
    AND notification.attempts = ended.attempt AND notification.state = 'sending'
RETURNING notification.notification_id, notification.channel, notification.attempts
