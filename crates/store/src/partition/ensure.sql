-- Lock: an advisory one inside of the function, then ACCESS EXCLUSIVE on the partitions it makes and SHARE UPDATE
-- EXCLUSIVE on their parent. Idempotency key: the partition's name. Index: none.
SELECT outbox.ensure_partitions($1) AS made
