-- Lock: an advisory one inside of the function, then SHARE UPDATE EXCLUSIVE on the partitions' parents, for at most 2 s
-- of waiting: neither readers nor writers are in its way, nor it in theirs. Idempotency key: the partition's name. Index: none.
SELECT ensure_partitions($1)
