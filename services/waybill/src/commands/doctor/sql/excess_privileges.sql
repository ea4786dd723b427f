-- Lock: none. Answers what no service's login may do in a schema, and this one may. Index: pg_class's on the schema.
SELECT privilege || ' on ' || c.oid::regclass
FROM pg_class AS c, unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) AS privilege
WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'p') AND has_table_privilege(c.oid, privilege)
UNION ALL
SELECT 'CREATE on schema ' || $1 WHERE has_schema_privilege(to_regnamespace($1), 'CREATE')
UNION ALL
SELECT privilege || ' on the database'
FROM unnest(ARRAY['CREATE', 'TEMPORARY']) AS privilege
WHERE has_database_privilege(current_database(), privilege)
