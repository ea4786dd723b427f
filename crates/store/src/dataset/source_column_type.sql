-- The type of a column of the data sets' database, and whether it is text: text, varchar, char, or a domain over one
-- of them, however deep. No row: there is no such column.
-- Lock: none. Idempotency key: none, it reads. Index: pg_attribute_relid_attnam_index, pg_type_oid_index.
WITH RECURSIVE layers AS (
    SELECT attribute.atttypid AS type_oid, format_type(attribute.atttypid, attribute.atttypmod) AS type_name
    FROM pg_catalog.pg_class AS relation
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace
    JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = relation.oid
    WHERE namespace.nspname = $1
        AND relation.relname = $2
        AND attribute.attname = $3
        AND attribute.attnum > 0
        AND NOT attribute.attisdropped
    UNION ALL
    SELECT type.typbasetype, layers.type_name
    FROM layers
    JOIN pg_catalog.pg_type AS type ON type.oid = layers.type_oid
    WHERE type.typtype = 'd'
)
SELECT
    type_name,
    bool_or(type_oid IN ('pg_catalog.text'::regtype, 'pg_catalog.varchar'::regtype, 'pg_catalog.bpchar'::regtype))
        AS is_text
FROM layers
GROUP BY type_name;
