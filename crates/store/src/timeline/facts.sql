-- The facts published about an export, each with the time at which the relay recorded Kafka's acknowledgement, found
-- as in commands.sql.
-- Lock: none. Idempotency key: none, it reads. Index: facts_pkey, events_pkey, batches_by_last_seq, parked_pkey.
SELECT
    facts.version, facts.event_id, facts.type AS event_type, facts.created_at,
    CASE WHEN parked.seq IS NULL THEN batch.acknowledged_at ELSE parked.sent_at END AS acknowledged_at
FROM export.facts
LEFT JOIN outbox.events ON events.seq = facts.outbox_seq AND events.created_at = facts.created_at
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
LEFT JOIN outbox.parked ON parked.seq = facts.outbox_seq
WHERE facts.export_id = $1
ORDER BY facts.version;
