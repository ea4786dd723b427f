-- What casts call these types, without a modifier, and the labels of those that are enumerations, in their order.
-- Lock: none. Idempotency key: none, it only reads the catalog. Index: pg_type_oid_index, pg_enum_typid_sortorder_index.
SELECT
    pg_catalog.format_type(asked.oid, -1) AS cast_name,
    ARRAY(
        SELECT label.enumlabel::text FROM pg_catalog.pg_enum AS label
        WHERE label.enumtypid = asked.oid ORDER BY label.enumsortorder
    ) AS labels
FROM unnest($1::oid[]) WITH ORDINALITY AS asked (oid, position)
ORDER BY asked.position
