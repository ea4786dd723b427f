-- Lock: none. Lets whoever changes the same role finish: at random, so that two who met do not meet again.
-- Index: none.
SELECT pg_sleep(0.01 + random() * 0.05)
