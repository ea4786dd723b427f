-- One event in a transaction of its own. Lock: none. Idempotency key: none. Index: none.
INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload)
VALUES ($1, $2, $3, $4, $5, $6)
