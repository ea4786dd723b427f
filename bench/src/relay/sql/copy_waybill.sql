-- A part of a backlog in one transaction. Lock: none. Idempotency key: none. Index: none.
COPY outbox.events (topic, key, event_id, header_names, header_values, payload) FROM STDIN (FORMAT binary)
