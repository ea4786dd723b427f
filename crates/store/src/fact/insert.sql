-- Records a fact that was written into the outbox in this transaction. A second fact of the same version fails, and the
-- transaction with it: a version is published once, whatever the code above believes.
-- Lock: key share on the job's row, which the caller holds for update. Idempotency key: (export_id, version), the
-- primary key. Index: facts_pkey, facts_event_id_key.
INSERT INTO export.facts (export_id, version, event_id, type, outbox_seq)
VALUES ($1, $2, $3, $4, $5);
