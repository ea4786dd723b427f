-- How many holds stand. Lock: none. Idempotency key: none, it reads. Index: holds_open.
SELECT count(*) AS holds FROM holds WHERE ended_at IS NULL
