-- Records what a person decided, beside what it changed and in the same transaction.
-- Lock: none. Idempotency key: none, each decision is one row. Index: decisions_pkey.
INSERT INTO export.decisions (principal, action, subject, reason)
VALUES ($1, $2, $3, $4)
RETURNING decision_id;
