-- Structure of one outbox. No name is qualified: it runs with search_path = <schema>, pg_temp, so that the same file makes the
-- product's own outbox and any that `waybill outbox install` puts elsewhere. Functions keep that path (FROM CURRENT).

-- Insert-only: nothing updates or deletes a row. There is no default partition, so that a row can never land where
-- retention would not find it; running short of partitions is an alarm.
CREATE TABLE events (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    -- A length beside the pattern: a repetition of 249 inside of it costs more than the rest of the insert.
    topic text NOT NULL CONSTRAINT topic_is_a_name CHECK (
        octet_length(topic) BETWEEN 1 AND 249 AND topic !~ '[^a-zA-Z0-9._-]' AND topic NOT IN ('.', '..')
    ),
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

-- Not compressed, so that pg_column_size() is what a record's headers take: it bounds a page, and costs nothing.
ALTER TABLE events
    ALTER COLUMN header_names SET STORAGE EXTERNAL,
    ALTER COLUMN header_values SET STORAGE EXTERNAL;

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
    CHECK ((scope = 'key') = (key IS NOT NULL)),
    CHECK (ended_at IS NULL OR resume_requested_at IS NULL)
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
-- What a person decided never to send, for whoever asks; few among all that were parked once.
CREATE INDEX parked_discarded ON parked (seq) WHERE state = 'discarded';
CREATE INDEX parked_sent ON parked (sent_at) WHERE state = 'sent';

-- Which topic of that name was sent to. One that was deleted and made again has another id, and holds nothing of it.
CREATE TABLE topics (
    topic text PRIMARY KEY,
    topic_id text NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    -- Whoever agreed to another id.
    decided_by text,
    decision_reason text
);

-- What people decided about this outbox without an api before it. Who it was is the login that the session began with:
-- nobody is granted that column, so nobody can write another. No principal of an api is called `postgres:` and something.
CREATE TABLE decisions (
    decision_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    decided_at timestamptz NOT NULL DEFAULT now(),
    decided_by text NOT NULL DEFAULT ('postgres:' || session_user),
    action text NOT NULL,
    subject text NOT NULL,
    reason text NOT NULL CHECK (reason <> '')
);

-- Whoever records decisions above also signs with the login what is decided about a row, whatever the statement says, and
-- gives a reason with it: a name never comes to stand beside what somebody else once said. The same words may be given
-- again; that they were is seen from the time. The api records its own elsewhere, and names its principals here.
CREATE FUNCTION sign_decision() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    is_given boolean;
BEGIN
    IF NOT has_any_column_privilege('decisions', 'INSERT') THEN
        RETURN NEW;
    END IF;
    IF TG_TABLE_NAME = 'parked' THEN
        is_given := (NEW.decision_reason, NEW.decided_at) IS DISTINCT FROM (OLD.decision_reason, OLD.decided_at);
        NEW.decided_at := now();
    ELSE
        is_given := (NEW.decision_reason, NEW.recorded_at) IS DISTINCT FROM (OLD.decision_reason, OLD.recorded_at);
    END IF;
    IF NOT is_given OR coalesce(btrim(NEW.decision_reason), '') = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = 'a decision needs a reason: set decision_reason';
    END IF;
    NEW.decided_by := 'postgres:' || session_user;
    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION sign_decision() FROM PUBLIC;

-- What a person does to a row, and not the relay: have a refused one sent again, give one up, or say who and why.
CREATE TRIGGER parked_decision BEFORE UPDATE ON parked FOR EACH ROW
WHEN (
    (OLD.state = 'refused' AND NEW.state = 'waiting')
    OR (OLD.state <> 'discarded' AND NEW.state = 'discarded')
    OR (OLD.decided_by, OLD.decided_at, OLD.decision_reason)
        IS DISTINCT FROM (NEW.decided_by, NEW.decided_at, NEW.decision_reason)
)
EXECUTE FUNCTION sign_decision();

CREATE TRIGGER topics_decision BEFORE UPDATE ON topics FOR EACH ROW
EXECUTE FUNCTION sign_decision();

-- What is settled stays as it is. Only what was discarded while it was on its way may turn out to be sent.
CREATE FUNCTION keep_settled() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'integrity_constraint_violation', MESSAGE = format('the parked row %s is settled', OLD.seq);
END
$$;

REVOKE ALL ON FUNCTION keep_settled() FROM PUBLIC;

CREATE TRIGGER parked_settled BEFORE UPDATE ON parked FOR EACH ROW
WHEN (OLD.state = 'sent' OR (OLD.state = 'discarded' AND NEW.state <> 'sent'))
EXECUTE FUNCTION keep_settled();

-- That Kafka refuses a row is for the relay to say: whoever may not move the cursor is none.
CREATE FUNCTION keep_refusal_to_the_relay() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT has_any_column_privilege('cursor', 'UPDATE') THEN
        RAISE EXCEPTION USING
            ERRCODE = 'integrity_constraint_violation',
            MESSAGE = format('only a relay may say that the parked row %s is refused', OLD.seq);
    END IF;
    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION keep_refusal_to_the_relay() FROM PUBLIC;

CREATE TRIGGER parked_refusal BEFORE UPDATE ON parked FOR EACH ROW
WHEN (OLD.state = 'waiting' AND NEW.state = 'refused')
EXECUTE FUNCTION keep_refusal_to_the_relay();

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
                'CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE)',
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

-- Appends one event in the caller's transaction and answers its seq. A writer in any language needs nothing but EXECUTE on
-- this and USAGE on the schema. Writers of one key call it while they hold the row lock of what the key stands for: that
-- is what makes the order of seq the order of their commits. It refuses what the crate waybill-outbox refuses, and
-- counts a record's bytes as that does; a test compares the verdicts of the two.
CREATE FUNCTION outbox_append(
    topic text,
    key bytea,
    event_id text,
    header_names text[],
    header_values bytea[],
    payload bytea
) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    names text[] := coalesce(header_names, '{}');
    contents bytea[] := coalesce(header_values, '{}');
    -- A record batch's header, one record's fixed fields and a header's two lengths, each at their largest.
    batch_overhead_bytes CONSTANT integer := 61 + 21;
    header_overhead_bytes CONSTANT integer := 10;
    header_name_bytes_max CONSTANT integer := 255;
    headers_max CONSTANT integer := 64;
    event_bytes_max CONSTANT integer := 1000000;
    bytes bigint;
    appended_seq bigint;
    refusal text;
    hint text;
BEGIN
    IF topic IS NULL OR octet_length(topic) NOT BETWEEN 1 AND 249
        OR topic ~ '[^a-zA-Z0-9._-]' OR topic IN ('.', '..')
    THEN
        refusal := format('%L is no topic name', topic);
        hint := 'Kafka takes 1 to 249 of a-z A-Z 0-9 . _ -';
    ELSIF event_id IS NULL OR event_id = '' THEN
        refusal := format('an event for topic %L has an empty event id', topic);
        hint := 'give it an id by which it can be found again';
    ELSIF cardinality(names) <> cardinality(contents)
        OR coalesce(array_ndims(names), 1) <> 1 OR coalesce(array_ndims(contents), 1) <> 1
    THEN
        refusal := format('%s header names and %s values', cardinality(names), cardinality(contents));
        hint := 'give two lists of one dimension, a value for each name; a value may be NULL';
    ELSIF cardinality(names) > headers_max THEN
        refusal := format('%s headers', cardinality(names));
        hint := format('%s at most are accepted', headers_max);
    ELSIF EXISTS (
        SELECT FROM unnest(names) AS name
        WHERE name IS NULL
            OR octet_length(name) NOT BETWEEN 1 AND header_name_bytes_max
            OR name ~ '[\u0001-\u001F\u007F-\u009F]'
    ) THEN
        refusal := 'a header name that no record can have';
        hint := format('1 to %s bytes without control characters', header_name_bytes_max);
    ELSE
        SELECT batch_overhead_bytes + coalesce(octet_length(key), 0) + coalesce(octet_length(payload), 0)
            + coalesce(sum(header_overhead_bytes + octet_length(name) + coalesce(octet_length(content), 0)), 0)
        INTO bytes
        FROM unnest(names, contents) AS header (name, content);
        IF bytes > event_bytes_max THEN
            refusal := format('the record would take %s bytes', bytes);
            hint := format('%s at most are accepted: keep large content elsewhere, and send what identifies it', event_bytes_max);
        END IF;
    END IF;
    IF refusal IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value', MESSAGE = 'outbox-event-refused: ' || refusal, HINT = hint;
    END IF;

    INSERT INTO events (topic, key, event_id, header_names, header_values, payload)
    VALUES (
        outbox_append.topic, outbox_append.key, outbox_append.event_id, names, contents, outbox_append.payload
    )
    RETURNING seq INTO appended_seq;
    IF appended_seq IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'triggered_data_change_violation',
            MESSAGE = format('outbox-row-swallowed: the event %L was not stored', event_id),
            HINT = 'a BEFORE INSERT trigger or a rule on the table events took the row; remove it';
    END IF;
    RETURN appended_seq;
END
$$;

REVOKE ALL ON FUNCTION outbox_append(text, bytea, text, text[], bytea[], bytea) FROM PUBLIC;

-- The partitions that ensure_partitions made, by their names.
CREATE FUNCTION daily_partitions(OUT parent text, OUT name name, OUT day date) RETURNS SETOF record
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT top, child.relname, to_date(right(child.relname, 8), 'YYYYMMDD')
    FROM unnest(ARRAY['events', 'batches']) AS top
    JOIN pg_inherits ON inhparent = to_regclass(format('%I.%I', current_schema(), top))
    JOIN pg_class AS child ON child.oid = inhrelid AND child.relname ~ ('^' || top || '_[0-9]{8}$')
$$;

REVOKE ALL ON FUNCTION daily_partitions() FROM PUBLIC;

-- Whether a partition of events holds a row that no relay is known to have passed: one that the window's lower end does not
-- see, unless it is from before a restore and those were sent again. All of them are such while they are still being
-- sent again, and on a server that the cursor is not of: a snapshot of before a restore also sees xids that were
-- given out a second time. Each call looks with a new snapshot, and through the partition's own events_by_xid.
CREATE FUNCTION holds_unrelayed(partition name) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
    answer boolean;
BEGIN
    EXECUTE format(
        'SELECT NOT EXISTS (
            SELECT FROM cursor, server_identity() AS server
            WHERE cursor.resend_after_seq IS NULL
                AND cursor.system_identifier = server.system_identifier
                AND cursor.timeline = server.timeline
        ) OR (
            SELECT event.xid
            FROM %I AS event, cursor
            WHERE event.xid >= (SELECT pg_snapshot_xmin(from_snapshot) FROM cursor)
                AND event.seq > cursor.floor_seq
                AND NOT pg_visible_in_snapshot(event.xid, cursor.from_snapshot)
            ORDER BY event.xid
            LIMIT 1
        ) IS NOT NULL',
        partition
    ) INTO answer;
    RETURN answer;
END
$$;

REVOKE ALL ON FUNCTION holds_unrelayed(name) FROM PUBLIC;

-- Drops the oldest partition whose every row is older than so many days and was relayed, one a call, and answers its name;
-- kept counts the partitions that are as old and hold a row that was not. A partition of batches goes when none of
-- events is left that is as old. Dropping takes ACCESS EXCLUSIVE on the parent: writers wait behind that, so it waits for
-- at most 100 ms, and fails; the caller comes again later. Whoever was waited for may have committed a row
-- meanwhile, which is why the rows are looked at again under the lock.
CREATE FUNCTION drop_relayed(retention_days integer, OUT dropped text, OUT kept integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
DECLARE
    ends_by date := (now() AT TIME ZONE 'UTC')::date - retention_days;
    aged record;
    victim record;
    oldest_events date;
BEGIN
    IF retention_days NOT BETWEEN 1 AND 3650 THEN
        RAISE EXCEPTION 'retention_days must be between 1 and 3650, got %', retention_days;
    END IF;
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'drop_relayed looks again after it has waited, which only READ COMMITTED lets it';
    END IF;
    kept := 0;
    FOR aged IN
        SELECT parent, name, day FROM daily_partitions() WHERE day + 1 <= ends_by ORDER BY parent DESC, day
    LOOP
        IF aged.parent = 'events' AND holds_unrelayed(aged.name) THEN
            kept := kept + 1;
            oldest_events := coalesce(oldest_events, aged.day);
        ELSIF victim IS NULL AND (aged.parent = 'events' OR oldest_events IS NULL OR aged.day < oldest_events) THEN
            victim := aged;
        END IF;
    END LOOP;
    IF victim IS NULL THEN
        RETURN;
    END IF;
    EXECUTE format('LOCK TABLE ONLY %I, %I IN ACCESS EXCLUSIVE MODE', victim.parent, victim.name);
    IF victim.parent = 'events' AND holds_unrelayed(victim.name) THEN
        kept := kept + 1;
        RETURN;
    END IF;
    EXECUTE format('DROP TABLE %I', victim.name);
    dropped := victim.name;
END
$$;

REVOKE ALL ON FUNCTION drop_relayed(integer) FROM PUBLIC;

-- Deletes parked rows that were sent so many days ago, at most rows_max of them, and answers how many. Those that wait,
-- and those that a person discarded, stay.
CREATE FUNCTION forget_sent(retention_days integer, rows_max integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    forgotten integer;
BEGIN
    IF retention_days NOT BETWEEN 1 AND 3650 OR rows_max NOT BETWEEN 1 AND 100000 THEN
        RAISE EXCEPTION 'retention_days must be between 1 and 3650 and rows_max between 1 and 100000';
    END IF;
    DELETE FROM parked
    WHERE seq IN (
        SELECT parked.seq FROM parked
        WHERE state = 'sent' AND sent_at < now() - make_interval(days => retention_days)
        ORDER BY sent_at
        LIMIT rows_max
        FOR UPDATE SKIP LOCKED
    );
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END
$$;

REVOKE ALL ON FUNCTION forget_sent(integer, integer) FROM PUBLIC;
SELECT ensure_partitions(14);
