-- Lock: an advisory one inside of the function, then SHARE UPDATE EXCLUSIVE on the partitions' parents.
-- Idempotency key: the partition's name. Index: none.
SELECT ensure_partitions($1)
