-- What a service needs that appends: the function, or the columns that it fills itself and the one that it is answered.
-- Lock: rows of the catalogue, for one statement each. Idempotency key: the grant. {schema} and {role} are quoted identifiers.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT EXECUTE ON FUNCTION {schema}.outbox_append(text, bytea, text, text[], bytea[], bytea) TO {role};
GRANT INSERT (topic, key, event_id, header_names, header_values, payload) ON {schema}.events TO {role};
GRANT SELECT (seq) ON {schema}.events TO {role}
