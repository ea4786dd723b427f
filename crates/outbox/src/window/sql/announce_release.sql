-- A hint to the standbys. Lock: the cluster's notify queue, outside of any transaction. Idempotency key: none, hints may
-- repeat. Index: none.
NOTIFY waybill_outbox_lease
