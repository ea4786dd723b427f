-- The commands written for an export, each with the time at which the relay recorded Kafka's acknowledgement: that of
-- the batch whose page held the row's seq and whose window held its xid. There is at most one such batch. Of a row
-- that the cursor passed unsent it is the time at which it was sent after all, if it was.
-- Lock: none. Idempotency key: none, it reads. Index: commands_pkey, events_pkey, batches_by_last_seq, parked_pkey.
SELECT
    commands.command_id, commands.reason, commands.created_at,
    CASE WHEN parked.seq IS NULL THEN batch.acknowledged_at ELSE parked.sent_at END AS acknowledged_at
FROM export.commands
LEFT JOIN outbox.events ON events.seq = commands.outbox_seq AND events.created_at = commands.created_at
LEFT JOIN LATERAL (
    SELECT batches.acknowledged_at
    FROM outbox.batches
    WHERE batches.acknowledged_at >= events.created_at
        AND batches.last_seq >= events.seq
        AND batches.after_seq < events.seq
        AND pg_visible_in_snapshot(events.xid, batches.to_snapshot)
        AND NOT pg_visible_in_snapshot(events.xid, batches.from_snapshot)
    ORDER BY batches.last_seq
    LIMIT 1
) AS batch ON true
LEFT JOIN outbox.parked ON parked.seq = commands.outbox_seq
WHERE commands.export_id = $1
ORDER BY commands.outbox_seq;
