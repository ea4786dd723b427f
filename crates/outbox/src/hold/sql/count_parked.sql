-- How many rows are parked and undecided, counted up to 100,000: behind a topic they may be millions. Lock: none.
-- Index: parked_open.
SELECT
    count(*) FILTER (WHERE state = 'refused') AS refused,
    count(*) FILTER (WHERE state = 'waiting') AS waiting
FROM (
    SELECT state
    FROM parked
    WHERE state IN ('refused', 'waiting')
    LIMIT 100000
) AS counted
