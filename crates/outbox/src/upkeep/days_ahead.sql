-- The days after today up to the first one without its partitions, looked for beyond what may be made ahead.
-- Lock: none. Idempotency key: none, it reads. Index: none, it asks the catalogue for some hundred names.
SELECT count(*) AS days_ahead
FROM (
    SELECT bool_and(
        to_regclass('events_' || to_char((now() AT TIME ZONE 'UTC')::date + ahead.day, 'YYYYMMDD')) IS NOT NULL
        AND to_regclass('batches_' || to_char((now() AT TIME ZONE 'UTC')::date + ahead.day, 'YYYYMMDD')) IS NOT NULL
    ) OVER (ORDER BY ahead.day) AS covered
    FROM generate_series(1, 61) AS ahead (day)
) AS days
WHERE days.covered
