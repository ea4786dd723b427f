-- What became of one attempt. An attempt that is no longer `sending` was decided by somebody else: nothing changes.
-- A notification that goes back to pending gets its next due time, and one failure more if it was its own; every other
-- outcome settles it.
-- Lock: the attempt's row, then its notification's. Idempotency key: (notification_id, attempt, 'sending').
-- Index: attempts_pkey, notifications_pkey.
WITH ended AS (
    UPDATE notify.attempts
    SET state = $3, ended_at = now(), evidence = $4
    WHERE notification_id = $1 AND attempt = $2 AND state = 'sending'
    RETURNING notification_id, attempt, state
)

UPDATE notify.notifications AS notification
SET
    state = CASE ended.state WHEN 'retry' THEN 'pending' ELSE ended.state END,
    due_at = CASE ended.state WHEN 'retry' THEN now() + $5::bigint * interval '1 millisecond' END,
    settled_at = CASE ended.state WHEN 'retry' THEN NULL ELSE now() END,
    failures = notification.failures + $6
FROM ended
WHERE
    notification.notification_id = ended.notification_id
    AND notification.attempts = ended.attempt AND notification.state = 'sending'
