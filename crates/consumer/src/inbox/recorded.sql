-- What stands beside event keys that were recorded before.
-- Lock: none; a row of the inbox never changes. Idempotency key: none, it reads. Index: inbox_pkey.
SELECT inbox.source, inbox.event_id, inbox.fingerprint
FROM UNNEST($2::text[], $3::text[]) AS keys (source, event_id)
JOIN inbox ON inbox.consumer_group = $1 AND inbox.source = keys.source AND inbox.event_id = keys.event_id
WHERE inbox.fingerprint IS NOT NULL;
