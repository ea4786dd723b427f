-- Records a decision: $1 what, $2 about what, $3 why. Who and when are the table's to say. Lock: none.
-- Idempotency key: none, each time that somebody decides is one. Index: decisions_pkey.
INSERT INTO decisions (action, subject, reason)
VALUES ($1, $2, $3)
RETURNING decided_by
