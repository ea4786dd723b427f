-- One event in a transaction of its own. Lock: none. Idempotency key: id. Index: none.
INSERT INTO outbox (id, aggregatetype, aggregateid, type, ce_source, ce_specversion, payload)
VALUES ($1, $2, $3, $4, $5, $6, $7)
