-- Lock: none. Answers what was applied in the schema, in order. Index: the primary key of schema_history (a handful of rows).
SELECT version, name FROM {schema}.schema_history ORDER BY version
