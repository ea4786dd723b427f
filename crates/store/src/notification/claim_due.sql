-- Takes what is due for sending: notification and attempt are `sending`, and committed, before the first byte leaves.
-- One statement, so that one commit covers both rows.
-- Lock: the taken notifications, skipping those that another sender has. Idempotency key: (notification_id, attempt).
-- Index: notifications_due.
WITH due AS (
    SELECT notification_id
    FROM notify.notifications
    WHERE state = 'pending' AND due_at <= now()
    ORDER BY due_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
),

claimed AS (
    UPDATE notify.notifications AS notification
    SET state = 'sending', due_at = NULL, attempts = notification.attempts + 1
    FROM due
    WHERE notification.notification_id = due.notification_id
    RETURNING notification.*
),

begun AS (
    INSERT INTO notify.attempts (notification_id, attempt, sender, state, deadline_at)
    SELECT notification_id, attempts, $1, 'sending', now() + $3::bigint * interval '1 millisecond'
    FROM claimed
    RETURNING notification_id
)

SELECT claimed.*
FROM claimed
INNER JOIN begun USING (notification_id)
