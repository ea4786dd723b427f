-- Whether a login role may read a relation of the data sets' database, and the statements that would let it.
-- A row even where the role is missing. Lock: none. Idempotency key: none, it reads. Index: pg_authid_rolname_index.
SELECT
    role.oid IS NOT NULL AS role_exists,
    coalesce(has_schema_privilege(role.oid, namespace.oid, 'USAGE'), false) AS may_use_schema,
    coalesce(has_table_privilege(role.oid, relation.oid, 'SELECT'), false) AS may_select,
    format('GRANT USAGE ON SCHEMA %I TO %I;', namespace.nspname, $3::text) AS grant_schema,
    format('GRANT SELECT ON %I.%I TO %I;', namespace.nspname, relation.relname, $3::text) AS grant_select
FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace
LEFT JOIN pg_catalog.pg_roles AS role ON role.rolname = $3::text
WHERE namespace.nspname = $1 AND relation.relname = $2;
