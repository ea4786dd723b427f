-- The columns of a table, view or foreign table in the data sets' database. No row: there is no such relation.
-- Lock: none. Idempotency key: none, it reads. Index: pg_class_relname_nsp_index, pg_attribute_relid_attnum_index.
SELECT attribute.attname::text AS column_name
FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace
JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = relation.oid
WHERE namespace.nspname = $1
    AND relation.relname = $2
    AND relation.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND attribute.attnum > 0
    AND NOT attribute.attisdropped
ORDER BY attribute.attnum;
