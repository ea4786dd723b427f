-- A part of a backlog in one transaction. Lock: none. Idempotency key: id. Index: none.
COPY outbox (id, aggregatetype, aggregateid, type, ce_source, ce_specversion, payload) FROM STDIN (FORMAT binary)
