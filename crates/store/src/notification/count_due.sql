-- How many notifications of some channels are due, by channel; a channel without any has no row.
-- Lock: none. Idempotency key: none, it reads. Index: notifications_due.
SELECT channel, count(*) AS due
FROM notify.notifications
WHERE state = 'pending' AND channel = ANY($1::text[]) AND due_at <= now()
GROUP BY channel
ORDER BY channel
