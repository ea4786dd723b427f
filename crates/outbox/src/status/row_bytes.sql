-- What a row takes on disk, on average over the partitions that were ever analysed; NULL when none was. An estimate.
-- Lock: none. Idempotency key: none, it reads. Index: none, it asks the catalogue.
SELECT (sum(pg_table_size(part.oid)) / sum(part.reltuples))::double precision AS bytes
FROM pg_inherits
JOIN pg_class AS part ON part.oid = pg_inherits.inhrelid
WHERE pg_inherits.inhparent = 'events'::regclass AND part.reltuples > 0
