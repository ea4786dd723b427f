-- Ends a statement of this transaction, and this transaction between two of them, that takes longer than $1
-- milliseconds: what the client has given up does not stand later. It does not bound the commit.
-- Lock: none. Idempotency key: none, it holds for this transaction alone. Index: none.
SELECT
    set_config('statement_timeout', $1, true),
    set_config('idle_in_transaction_session_timeout', $1, true)
