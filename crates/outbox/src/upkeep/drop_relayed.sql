-- Lock: ACCESS EXCLUSIVE on one partition and its parent, waited for at most 100 ms each, and only when there is something
-- to drop; held until the partition is gone. Idempotency key: the partition's name.
-- Index: events_by_xid of the partitions that are old enough, one probe each.
SELECT dropped, kept FROM drop_relayed($1)
