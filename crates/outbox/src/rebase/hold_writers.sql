-- Waits for writers that are under way and lets no other begin until the transaction ends: where the sequence was not restored
-- with the rows, one of them may hold a seq that rows of before have, and would commit behind the last look at those.
-- Lock: SHARE ROW EXCLUSIVE on events, readers are not in its way. Idempotency key: none. Index: none.
LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE
