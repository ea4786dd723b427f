-- What somebody needs who looks and changes nothing.
-- Lock: rows of the catalogue, for one statement each. Idempotency key: the grant. {schema} and {role} are quoted identifiers.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON
    {schema}.events, {schema}.cursor, {schema}.batches, {schema}.holds, {schema}.parked, {schema}.topics,
    {schema}.decisions, {schema}.schema_history
    TO {role}
