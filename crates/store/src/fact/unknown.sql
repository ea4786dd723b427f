-- Which of the facts $1, by the CloudEvents id, this database does not know. Lock: none. Idempotency key: none, it reads.
-- Index: facts_event_id_key.
SELECT given.event_id
FROM unnest($1::text[]) AS given (event_id)
WHERE NOT EXISTS (SELECT FROM export.facts WHERE facts.event_id = given.event_id);
