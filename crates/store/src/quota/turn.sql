-- Waits until no other acceptance of this tenant is open, so that what is counted next counts all of them.
-- Lock: an advisory one of the transaction, on the tenant. Not the tenant's row: a claim skips a tenant whose row is held, and
-- would then skip whoever is just being given work. Two tenants that hash alike only wait for each other.
-- Idempotency key: none, it changes nothing. Index: none.
SELECT pg_advisory_xact_lock(hashtextextended($1, 0));
