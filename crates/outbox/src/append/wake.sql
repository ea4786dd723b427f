-- A hint to the relay that there may be rows. Lock: the cluster's notify queue, which is why it runs outside of every
-- writer's transaction. Idempotency key: none, hints may repeat. Index: none.
NOTIFY waybill_outbox
