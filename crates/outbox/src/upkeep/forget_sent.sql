-- Lock: the rows that it deletes; what somebody else holds is passed over. Idempotency key: none, what is gone is gone.
-- Index: parked_sent.
SELECT forget_sent($1, $2)
