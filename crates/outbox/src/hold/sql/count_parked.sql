-- How many rows are parked and undecided. Lock: none. Index: parked_open.
SELECT
    count(*) FILTER (WHERE state = 'refused') AS refused,
    count(*) FILTER (WHERE state = 'waiting') AS waiting
FROM parked
WHERE state IN ('refused', 'waiting')
