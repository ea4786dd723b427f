-- A claim whose answer was lost: its rows are `sending`, yet no task was ever started for them, so they are due again.
-- Only for the claim's own token, which no other claim ever has.
-- Lock: the claim's attempts, then their notifications. Idempotency key: (sender, 'sending').
-- Index: attempts_sending.
WITH returned AS (
    UPDATE notify.attempts
    SET state = 'retry', ended_at = now(), evidence = $2
    WHERE sender = $1 AND state = 'sending'
    RETURNING notification_id, attempt
)

UPDATE notify.notifications AS notification
SET state = 'pending', due_at = now()
FROM returned
WHERE
    notification.notification_id = returned.notification_id
    AND notification.attempts = returned.attempt AND notification.state = 'sending'
