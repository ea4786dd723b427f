-- A hint to the relay that there may be rows. It waits for no flush: a notification is a commit with an xid of its own, and
-- a hint that dies with the server is none that anybody misses. Lock: the cluster's notify queue, which is why it runs
-- outside of every writer's transaction. Idempotency key: none, hints may repeat. Index: none.
SELECT set_config('synchronous_commit', 'off', true), pg_notify('waybill_outbox', '')
