-- Lock: none. Answers the encoding of the database, whether the schema is there, and one relation in it other than the
-- history that the migrations keep. Index: pg_class's on name and schema.
SELECT
    pg_encoding_to_char(encoding)::text AS encoding,
    to_regnamespace($1) IS NOT NULL AS schema_exists,
    (
        SELECT min(relname::text) FROM pg_class
        WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
            AND relname NOT IN ('schema_history')
    ) AS relation
FROM pg_database
WHERE datname = current_database()
