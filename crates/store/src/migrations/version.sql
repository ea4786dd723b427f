-- Lock: none. Read by every role at its start, so it needs nothing but SELECT on this one table.
-- Index: the primary key of schema_history (a handful of rows).
SELECT coalesce(max(version), 0) FROM {schema}.schema_history
