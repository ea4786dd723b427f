-- What a relay needs, and who keeps the outbox in shape with the relay's login: `waybill run relay reconciler`.
-- Lock: rows of the catalogue, for one statement each. Idempotency key: the grant. {schema} and {role} are quoted identifiers.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON {schema}.events, {schema}.schema_history TO {role};
GRANT SELECT, UPDATE ON {schema}.cursor TO {role};
GRANT SELECT, INSERT ON {schema}.batches TO {role};
GRANT SELECT, INSERT, UPDATE ON {schema}.holds, {schema}.parked, {schema}.topics TO {role};
GRANT EXECUTE ON FUNCTION
    {schema}.server_identity(), {schema}.ensure_partitions(integer), {schema}.drop_relayed(integer),
    {schema}.forget_sent(integer, integer)
    TO {role}
