-- What whoever is logged in may do with a relation, and the statements that would let it. No row: there is no relation.
-- Lock: none. Idempotency key: none, it only reads the catalog. Index: pg_namespace_nspname_index,
-- pg_class_relname_nsp_index.
SELECT
    pg_catalog.has_schema_privilege(namespace.oid, 'USAGE') AS may_use_schema,
    pg_catalog.has_table_privilege(relation.oid, 'SELECT') OR (
        SELECT pg_catalog.bool_and(pg_catalog.has_column_privilege(relation.oid, attribute.attnum, 'SELECT'))
        FROM pg_catalog.pg_attribute AS attribute
        WHERE attribute.attrelid = relation.oid AND attribute.attname = ANY ($3::text[])
    ) AS may_select,
    pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I;', namespace.nspname, current_user) AS grant_schema,
    pg_catalog.format(
        'GRANT SELECT ON %I.%I TO %I;', namespace.nspname, relation.relname, current_user
    ) AS grant_select
FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace
WHERE namespace.nspname = $1 AND relation.relname = $2 AND relation.relkind IN ('r', 'p', 'v', 'm', 'f')
