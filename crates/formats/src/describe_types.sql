-- Describes the types of columns: domains resolved, over arrays and inside of them, and an array's element beside it.
-- What is an array follows Postgres' own test of it: the subscripting that all true arrays share.
-- Lock: none. Idempotency key: none, it only reads the catalog. Index: pg_type_oid_index.
WITH RECURSIVE asked AS (
    SELECT column_type.position, column_type.oid, column_type.typmod
    FROM unnest($1::oid[], $2::int4[]) WITH ORDINALITY AS column_type (oid, typmod, position)
), step AS (
    SELECT asked.position, 0 AS depth, false AS in_array, asked.oid, asked.typmod, NULL::int4 AS dimensions
    FROM asked
    UNION ALL
    SELECT
        step.position,
        step.depth + 1,
        step.in_array OR known.typtype <> 'd',
        CASE WHEN known.typtype = 'd' THEN known.typbasetype ELSE known.typelem END,
        CASE WHEN known.typtype = 'd' AND known.typtypmod <> -1 THEN known.typtypmod ELSE step.typmod END,
        CASE WHEN known.typtype = 'd' THEN nullif(known.typndims, 0) ELSE step.dimensions END
    FROM step
    JOIN pg_catalog.pg_type AS known ON known.oid = step.oid
    WHERE known.typtype = 'd'
        OR NOT step.in_array AND known.typsubscript = 'pg_catalog.array_subscript_handler'::pg_catalog.regproc
), resolved AS (
    SELECT DISTINCT ON (step.position, step.in_array)
        step.position, step.in_array, step.oid, step.typmod, step.dimensions, known.typtype
    FROM step
    JOIN pg_catalog.pg_type AS known ON known.oid = step.oid
    ORDER BY step.position, step.in_array, step.depth DESC
)
SELECT
    whole.oid AS oid,
    pg_catalog.format_type(asked.oid, nullif(asked.typmod, -1)) AS name,
    whole.typtype AS typtype,
    coalesce(element.typmod, whole.typmod) AS typmod,
    element.oid AS element_oid,
    element.typtype AS element_typtype,
    whole.dimensions AS dimensions
FROM asked
JOIN resolved AS whole ON whole.position = asked.position AND NOT whole.in_array
LEFT JOIN resolved AS element ON element.position = asked.position AND element.in_array
ORDER BY asked.position
