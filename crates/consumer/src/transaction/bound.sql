-- Bounds the transaction that it is called in: how long it may sit idle, so that a holder that froze in the middle of it
-- lets its locks go, and how long it may wait for a lock.
-- Lock: none. Index: none.
SELECT
    set_config('idle_in_transaction_session_timeout', $1, true),
    set_config('lock_timeout', $2, true);
