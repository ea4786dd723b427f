-- Moves the cursor ($1 = fence, $2 = after_seq before, $3 = the last row) over rows that Kafka acknowledged ($4 = how many)
-- and rows that are held, in a window ($5 = from, $6 = to), and copies the held ones whole ($7 = their seqs, $8 = the holds
-- that they wait under, $9 = whether Kafka refused them). Commits synchronously whatever the session says: a relay that
-- outlives the server does not read these rows again, and a copy that a crash took back would be of a row that nobody sends.
-- Lock: the cursor's row, for one statement. Idempotency key: the fence, the window and the place in it; zero rows mean that
-- it was moved meanwhile, or that a held row or its open hold is not there: then nothing moves. Index: cursor_pkey, the
-- primary key of every partition, holds_pkey.
WITH held AS MATERIALIZED (
    SELECT
        events.seq, holds.hold_id, asked.is_refused, events.xid, events.topic, events.key, events.event_id,
        events.header_names, events.header_values, events.payload, events.created_at, holds.code, holds.detail
    FROM unnest($7::bigint[], $8::bigint[], $9::boolean[]) AS asked (seq, hold_id, is_refused)
    JOIN holds ON holds.hold_id = asked.hold_id AND holds.ended_at IS NULL
    JOIN events ON events.seq = asked.seq
), moved AS (
    UPDATE cursor
    SET after_seq = $3, moved_at = now()
    WHERE fence = $1
        AND after_seq = $2
        AND $3::bigint > $2::bigint
        AND from_snapshot::text = $5::pg_snapshot::text
        AND to_snapshot::text = $6::pg_snapshot::text
        AND (SELECT count(*) FROM held) = cardinality($7::bigint[])
        AND (SELECT set_config('synchronous_commit', 'on', true)) = 'on'
    RETURNING fence
), recorded AS (
    INSERT INTO batches (fence, from_snapshot, to_snapshot, after_seq, last_seq, events)
    SELECT fence, $5, $6, $2, $3, $4 FROM moved WHERE $4::integer > 0
), copied AS (
    INSERT INTO parked (
        seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, payload, created_at,
        code, detail, refusals
    )
    SELECT
        seq, hold_id, CASE WHEN is_refused THEN 'refused' ELSE 'waiting' END,
        xid, topic, key, event_id, header_names, header_values, payload, created_at,
        CASE WHEN is_refused THEN code END, CASE WHEN is_refused THEN detail END, is_refused::integer
    FROM held, moved
)
SELECT count(*) FROM moved
