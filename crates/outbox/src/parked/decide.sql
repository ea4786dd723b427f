-- A person's decision about an undecided row: $2 the state, $3 who, $4 why.
-- Lock: the row. Idempotency key: (seq, state before); a row that is settled is left alone. Index: parked_pkey.
UPDATE parked
SET state = $2, decided_by = $3, decided_at = now(), decision_reason = $4
WHERE seq = $1 AND state IN ('refused', 'waiting')
