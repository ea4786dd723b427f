-- A hint to the relay that there may be rows. Lock: the cluster's notify queue, outside of any transaction.
-- Idempotency key: none, hints may repeat. Index: none.
NOTIFY waybill_outbox
