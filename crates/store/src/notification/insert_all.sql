-- Things to tell, in the transaction that moves the consumer's position. Each identity is unique for ever, so a fact
-- that comes again, by whatever way, changes nothing.
-- Lock: the new rows. Idempotency key: (source, event_id, channel, target, kind). Index: that unique key.
INSERT INTO notify.notifications
    (notification_id, source, event_id, channel, target, kind, tenant_id, export_id, subject, body, state, due_at)
SELECT new.*, 'pending', now()
FROM unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
    $6::text[], $7::text[], $8::text[], $9::text[], $10::text[]
) AS new (notification_id, source, event_id, channel, target, kind, tenant_id, export_id, subject, body)
ON CONFLICT DO NOTHING
