-- Takes what is due for sending: notification and attempt are `sending`, and committed, before the first byte leaves.
-- Only of the channels that the sender names, and of each no more than it has places for: neither a channel that it
-- cannot use nor one that is slow stands in another one's way.
-- One statement, so that one commit covers both rows.
-- Lock: the taken notifications, skipping those that another sender has. Idempotency key: (notification_id, attempt).
-- Index: notifications_due, attempts_pkey.
WITH due AS (
    SELECT oldest.notification_id
    FROM unnest($2::text[], $3::bigint[]) AS place (channel, free)
    CROSS JOIN LATERAL (
        SELECT notification_id
        FROM notify.notifications
        WHERE state = 'pending' AND channel = place.channel AND due_at <= now()
        ORDER BY due_at
        LIMIT place.free
        FOR UPDATE SKIP LOCKED
    ) AS oldest
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
    SELECT notification_id, attempts, $1, 'sending', now() + $4::bigint * interval '1 millisecond'
    FROM claimed
    RETURNING notification_id
)

SELECT
    claimed.*,
    -- The first attempt of all is the one that has no row yet when this statement begins.
    coalesce((extract(EPOCH FROM now() - earliest.started_at) * 1000)::bigint, 0) AS tried_for_ms
FROM claimed
INNER JOIN begun USING (notification_id)
LEFT JOIN notify.attempts AS earliest
    ON earliest.notification_id = claimed.notification_id AND earliest.attempt = 1
