-- Lets the next seq be above every one that is known here, also where the sequence was not restored. Lock: the sequence's,
-- for a moment; it is not given back by a rollback, and a gap harms nobody. Idempotency key: the value, which only grows.
-- Index: the primary keys of events and parked, batches_by_last_seq.
SELECT setval(numbers.sequence, known.last_seq)
FROM (SELECT pg_get_serial_sequence('events', 'seq')::regclass AS sequence) AS numbers
CROSS JOIN (
    SELECT greatest(
        (SELECT max(seq) FROM events),
        (SELECT max(last_seq) FROM batches),
        (SELECT max(seq) FROM parked),
        (SELECT greatest(after_seq, floor_seq) FROM cursor)
    ) AS last_seq
) AS known
WHERE known.last_seq > coalesce(pg_sequence_last_value(numbers.sequence), 0)
