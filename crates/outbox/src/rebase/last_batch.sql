-- When Kafka last acknowledged something that this database knows of. Lock: none. Idempotency key: none, it reads.
-- Index: batches_pkey of every partition, backwards.
SELECT acknowledged_at FROM batches ORDER BY batch_id DESC LIMIT 1
