-- Appends one event. Lock: none of its own; the writer already holds its aggregate's row, which orders the seq of a key.
-- Idempotency key: none, the writer's transaction is the unit. Index: none is read. No row answered means that a trigger or
-- a rule took it: the caller's transaction must not commit. {schema} is a validated, quoted identifier.
INSERT INTO {schema}.events (topic, key, event_id, header_names, header_values, payload)
VALUES ($1, $2, $3, $4, $5, $6)
RETURNING seq
