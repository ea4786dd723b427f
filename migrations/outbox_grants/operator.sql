-- What somebody needs who looks, lets parked rows be sent or discards them, and agrees to a topic that was made again. No
-- event's content is seen before it is parked, and nothing moves the cursor: a rebase is the owner's.
-- Lock: rows of the catalogue, for one statement each. Idempotency key: the grant. {schema} and {role} are quoted identifiers.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT (seq, xid, created_at) ON {schema}.events TO {role};
GRANT SELECT ON
    {schema}.cursor, {schema}.batches, {schema}.holds, {schema}.parked, {schema}.topics, {schema}.decisions,
    {schema}.schema_history
    TO {role};
GRANT UPDATE (state, decided_by, decided_at, decision_reason) ON {schema}.parked TO {role};
GRANT UPDATE (resume_requested_at) ON {schema}.holds TO {role};
GRANT UPDATE (topic_id, recorded_at, decided_by, decision_reason) ON {schema}.topics TO {role};
GRANT INSERT (action, subject, reason) ON {schema}.decisions TO {role}
