-- What a relay needs, and who keeps the outbox in shape with the relay's login: `waybill run relay reconciler`. It signs
-- nothing: what a person decided is not in its reach.
-- Lock: rows of the catalogue, for one statement each. Idempotency key: the grant. {schema} and {role} are quoted identifiers.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON {schema}.events, {schema}.schema_history TO {role};
GRANT SELECT, UPDATE ON {schema}.cursor TO {role};
GRANT SELECT, INSERT ON {schema}.batches TO {role};
GRANT SELECT, INSERT, UPDATE ON {schema}.holds TO {role};
GRANT SELECT ON {schema}.parked, {schema}.topics TO {role};
GRANT INSERT (
    seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, payload, created_at, code, detail,
    refusals
) ON {schema}.parked TO {role};
GRANT UPDATE (hold_id, state, code, detail, refusals, sent_at) ON {schema}.parked TO {role};
GRANT INSERT (topic, topic_id) ON {schema}.topics TO {role};
GRANT EXECUTE ON FUNCTION
    {schema}.server_identity(), {schema}.ensure_partitions(integer), {schema}.drop_relayed(integer),
    {schema}.forget_sent(integer, integer)
    TO {role}
