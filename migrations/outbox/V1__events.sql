-- Structure of one outbox. No name is qualified: it runs with search_path = <schema>, pg_temp, so that the same file makes the
-- product's own outbox and any that `waybill outbox install` puts elsewhere. Functions keep that path (FROM CURRENT).

-- Insert-only: nothing updates or deletes a row. There is no default partition, so that a row can never land where
-- retention would not find it; running short of partitions is an alarm.
CREATE TABLE events (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    topic text NOT NULL CONSTRAINT topic_is_a_name
        CHECK (topic ~ '^[a-zA-Z0-9._-]{1,249}$' AND topic NOT IN ('.', '..')),
    key bytea,
    event_id text NOT NULL CONSTRAINT event_id_is_given CHECK (event_id <> ''),
    header_names text[] NOT NULL,
    header_values bytea[] NOT NULL,
    payload bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (seq, created_at),
    -- Two lists of one dimension, a value for each name, and no name that is null: whatever is stored can be read.
    CONSTRAINT headers_are_pairs CHECK (
        cardinality(header_names) = cardinality(header_values)
        AND coalesce(array_ndims(header_names), 1) = 1
        AND coalesce(array_ndims(header_values), 1) = 1
        AND array_position(header_names, NULL) IS NULL
    )
) PARTITION BY RANGE (created_at);

-- The steady read of a window: the rows of transactions that the last snapshot had not seen begin.
CREATE INDEX events_by_xid ON events (xid, seq);

-- The relay's cursor: the window (from, to, after_seq), under a lease and a fence. An outbox is a schema, and has one. Its
-- snapshots count the transactions of one server on one timeline; NULL until the first relay takes the lease.
-- After a restore, floor_seq is the last row of before it: no window holds such a row. While resend_after_seq is not NULL,
-- those of them are sent, by seq, that the window of before the restore had not passed; it says how far.
CREATE TABLE cursor (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    from_snapshot pg_snapshot NOT NULL,
    to_snapshot pg_snapshot NOT NULL,
    after_seq bigint NOT NULL DEFAULT 0,
    fence bigint NOT NULL DEFAULT 0,
    holder text,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    moved_at timestamptz NOT NULL DEFAULT now(),
    system_identifier text,
    timeline integer,
    floor_seq bigint NOT NULL DEFAULT 0,
    resend_after_seq bigint,
    CHECK ((system_identifier IS NULL) = (timeline IS NULL))
) WITH (fillfactor = 10);

-- Whose transactions a snapshot of this moment counts. The timeline comes from the log that is being written:
-- pg_control_checkpoint() knows a promotion only after the next checkpoint. A server in recovery raises an error.
CREATE FUNCTION server_identity(OUT system_identifier text, OUT timeline integer)
LANGUAGE sql VOLATILE SET search_path FROM CURRENT AS $$
    SELECT
        control.system_identifier::text,
        ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
    FROM pg_control_system() AS control
$$;

REVOKE ALL ON FUNCTION server_identity() FROM PUBLIC;

-- Nothing seen yet: every row that is ever committed is outside of this snapshot.
INSERT INTO cursor (from_snapshot, to_snapshot) VALUES ('1:1:', '1:1:');

-- When Kafka acknowledged what: one row for each batch by which the cursor moved. A row of events was
-- acknowledged with the first batch whose range holds its seq and whose window holds its xid.
CREATE TABLE batches (
    batch_id bigint GENERATED ALWAYS AS IDENTITY,
    fence bigint NOT NULL,
    from_snapshot pg_snapshot NOT NULL,
    to_snapshot pg_snapshot NOT NULL,
    after_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    events integer NOT NULL,
    acknowledged_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (batch_id, acknowledged_at)
) PARTITION BY RANGE (acknowledged_at);

CREATE INDEX batches_by_last_seq ON batches (last_seq);

-- Why rows wait though the cursor has passed them: `row`, one row without a key was refused; `key`, a row was refused and
-- the later ones of its key wait behind it; `topic`, Kafka takes nothing for the topic. A hold is never deleted: it ends.
CREATE TABLE holds (
    hold_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope text NOT NULL CHECK (scope IN ('row', 'key', 'topic')),
    topic text NOT NULL,
    key bytea,
    code text NOT NULL,
    detail text NOT NULL,
    held_at timestamptz NOT NULL DEFAULT now(),
    -- Somebody, or for a topic the relay itself, wants the rows sent now.
    resume_requested_at timestamptz,
    ended_at timestamptz,
    CHECK ((scope = 'key') = (key IS NOT NULL))
);

-- A key may be longer than an index entry, its digest is not.
CREATE UNIQUE INDEX holds_of_a_key ON holds (topic, sha256(key)) WHERE scope = 'key' AND ended_at IS NULL;
CREATE UNIQUE INDEX holds_of_a_topic ON holds (topic) WHERE scope = 'topic' AND ended_at IS NULL;
CREATE INDEX holds_open ON holds (hold_id) WHERE ended_at IS NULL;

-- The rows that the cursor passed and Kafka did not acknowledge, whole, so that retention need not wait for a person.
-- refused: Kafka will not have it, alone; waiting: it is sent when its turn comes; sent, discarded: for good.
CREATE TABLE parked (
    seq bigint PRIMARY KEY,
    hold_id bigint NOT NULL REFERENCES holds,
    state text NOT NULL CHECK (state IN ('refused', 'waiting', 'sent', 'discarded')),
    xid xid8 NOT NULL,
    topic text NOT NULL,
    key bytea,
    event_id text NOT NULL,
    header_names text[] NOT NULL,
    header_values bytea[] NOT NULL,
    payload bytea,
    created_at timestamptz NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT now(),
    -- The last refusal.
    code text,
    detail text,
    refusals integer NOT NULL DEFAULT 0,
    -- The last decision of a person.
    decided_by text,
    decided_at timestamptz,
    decision_reason text,
    sent_at timestamptz,
    CHECK ((state = 'sent') = (sent_at IS NOT NULL)),
    CHECK (state <> 'refused' OR code IS NOT NULL),
    CHECK (state <> 'discarded' OR (decided_by IS NOT NULL AND decision_reason IS NOT NULL))
);

CREATE INDEX parked_open ON parked (hold_id, seq) WHERE state IN ('refused', 'waiting');

-- Which topic of that name was sent to. One that was deleted and made again has another id, and holds nothing of it.
CREATE TABLE topics (
    topic text PRIMARY KEY,
    topic_id text NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    -- Whoever agreed to another id.
    decided_by text,
    decision_reason text
);

-- Makes the daily partitions of today and the days ahead (UTC), and answers how many it made. A partition is made on its
-- own and then attached: that takes SHARE UPDATE EXCLUSIVE on its parent, which neither a writer nor a reader stands in
-- the way of. CREATE … PARTITION OF would take ACCESS EXCLUSIVE, wait behind any long reader, and let every writer
-- wait behind itself.
CREATE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '2s' AS $$
DECLARE
    first_day date := (now() AT TIME ZONE 'UTC')::date;
    day date;
    parent text;
    name text;
    made integer := 0;
BEGIN
    IF days_ahead NOT BETWEEN 1 AND 60 THEN
        RAISE EXCEPTION 'days_ahead must be between 1 and 60, got %', days_ahead;
    END IF;
    -- Two callers at once would both find the partition missing.
    PERFORM pg_advisory_xact_lock(hashtext(current_schema() || '.ensure_partitions'));
    FOR day IN SELECT first_day + n FROM generate_series(0, days_ahead) AS n LOOP
        FOREACH parent IN ARRAY ARRAY['events', 'batches'] LOOP
            name := parent || '_' || to_char(day, 'YYYYMMDD');
            CONTINUE WHEN to_regclass(format('%I.%I', current_schema(), name)) IS NOT NULL;
            EXECUTE format(
                'CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)',
                name, parent
            );
            EXECUTE format(
                'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                parent, name,
                to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00',
                to_char(day + 1, 'YYYY-MM-DD') || ' 00:00:00+00'
            );
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;

REVOKE ALL ON FUNCTION ensure_partitions(integer) FROM PUBLIC;
SELECT ensure_partitions(14);
