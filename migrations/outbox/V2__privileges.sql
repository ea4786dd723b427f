-- What the product's own services may do with the product's own outbox. Another outbox gets its privileges from
-- `waybill outbox install`, which does not run this file.
GRANT USAGE ON SCHEMA outbox TO waybill_api, waybill_worker, waybill_reconciler, waybill_relay;
GRANT INSERT (topic, key, event_id, header_names, header_values, payload) ON outbox.events
    TO waybill_api, waybill_worker, waybill_reconciler;
GRANT SELECT (seq, xid, topic, event_id, created_at) ON outbox.events TO waybill_api;
GRANT SELECT (seq) ON outbox.events TO waybill_worker, waybill_reconciler;
GRANT SELECT ON outbox.events TO waybill_relay;
GRANT SELECT, UPDATE ON outbox.cursor TO waybill_relay;
GRANT INSERT ON outbox.batches TO waybill_relay;
GRANT SELECT, INSERT, UPDATE ON outbox.holds TO waybill_relay;
-- It signs nothing: what a person decided is not in its reach.
GRANT SELECT ON outbox.parked, outbox.topics TO waybill_relay;
GRANT INSERT (
    seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, payload, created_at, code, detail,
    refusals
) ON outbox.parked TO waybill_relay;
GRANT UPDATE (hold_id, state, code, detail, refusals, sent_at) ON outbox.parked TO waybill_relay;
GRANT INSERT (topic, topic_id) ON outbox.topics TO waybill_relay;
GRANT SELECT ON outbox.batches, outbox.cursor, outbox.holds, outbox.parked, outbox.topics TO waybill_api;
GRANT UPDATE (state, decided_by, decided_at, decision_reason) ON outbox.parked TO waybill_api;
GRANT UPDATE (resume_requested_at) ON outbox.holds TO waybill_api;
GRANT UPDATE (topic_id, recorded_at, decided_by, decision_reason) ON outbox.topics TO waybill_api;
GRANT EXECUTE ON FUNCTION outbox.server_identity() TO waybill_relay;
GRANT EXECUTE ON FUNCTION
    outbox.ensure_partitions(integer), outbox.drop_relayed(integer), outbox.forget_sent(integer, integer)
    TO waybill_reconciler;
