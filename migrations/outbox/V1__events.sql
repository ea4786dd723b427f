-- Insert-only: nothing updates or deletes a row. There is no default partition, so that a row can never land where
-- retention would not find it; running short of partitions is an alarm.
CREATE TABLE outbox.events (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    topic text NOT NULL CHECK (topic ~ '^[a-zA-Z0-9._-]{1,249}$'),
    key bytea,
    event_id text NOT NULL,
    header_names text[] NOT NULL,
    header_values bytea[] NOT NULL,
    payload bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (seq, created_at),
    CHECK (cardinality(header_names) = cardinality(header_values))
) PARTITION BY RANGE (created_at);

-- The steady read of a window: the rows of transactions that the last snapshot had not seen begin.
CREATE INDEX events_by_xid ON outbox.events (xid, seq);

-- The relay's cursor: the window (from, to, after_seq), under a lease and a fence. One row an outbox. Its snapshots count
-- the transactions of one server on one timeline; NULL until the first relay takes the lease.
CREATE TABLE outbox.cursors (
    outbox text PRIMARY KEY,
    from_snapshot pg_snapshot NOT NULL,
    to_snapshot pg_snapshot NOT NULL,
    after_seq bigint NOT NULL DEFAULT 0,
    fence bigint NOT NULL DEFAULT 0,
    holder text,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    moved_at timestamptz NOT NULL DEFAULT now(),
    system_identifier text,
    timeline integer,
    CHECK ((system_identifier IS NULL) = (timeline IS NULL))
) WITH (fillfactor = 10);

-- Whose transactions a snapshot of this moment counts. The timeline comes from the log that is being written:
-- pg_control_checkpoint() knows a promotion only after the next checkpoint. A server in recovery raises an error.
CREATE FUNCTION outbox.server_identity(OUT system_identifier text, OUT timeline integer)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT
        control.system_identifier::text,
        ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
    FROM pg_control_system() AS control
$$;

REVOKE ALL ON FUNCTION outbox.server_identity() FROM PUBLIC;

-- Nothing seen yet: every row that is ever committed is outside of this snapshot.
INSERT INTO outbox.cursors (outbox, from_snapshot, to_snapshot) VALUES ('main', '1:1:', '1:1:');

-- When Kafka acknowledged what: one row for each batch by which the cursor moved. A row of outbox.events was
-- acknowledged with the first batch whose range holds its seq and whose window holds its xid.
CREATE TABLE outbox.batches (
    batch_id bigint GENERATED ALWAYS AS IDENTITY,
    outbox text NOT NULL,
    fence bigint NOT NULL,
    from_snapshot pg_snapshot NOT NULL,
    to_snapshot pg_snapshot NOT NULL,
    after_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    events integer NOT NULL,
    acknowledged_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (batch_id, acknowledged_at)
) PARTITION BY RANGE (acknowledged_at);

CREATE INDEX batches_by_last_seq ON outbox.batches (last_seq);

-- Makes the daily partitions of today and the days ahead (UTC), and answers how many it made. A partition is made on its
-- own and then attached: that takes SHARE UPDATE EXCLUSIVE on its parent, which neither a writer nor a reader stands in
-- the way of. CREATE … PARTITION OF would take ACCESS EXCLUSIVE, wait behind any long reader, and let every writer
-- wait behind itself.
CREATE FUNCTION outbox.ensure_partitions(days_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
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
    PERFORM pg_advisory_xact_lock(hashtext('outbox.ensure_partitions'));
    FOR day IN SELECT first_day + n FROM generate_series(0, days_ahead) AS n LOOP
        FOREACH parent IN ARRAY ARRAY['events', 'batches'] LOOP
            name := parent || '_' || to_char(day, 'YYYYMMDD');
            CONTINUE WHEN to_regclass(format('outbox.%I', name)) IS NOT NULL;
            EXECUTE format(
                'CREATE TABLE outbox.%I (LIKE outbox.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)',
                name, parent
            );
            EXECUTE format(
                'ALTER TABLE outbox.%I ATTACH PARTITION outbox.%I FOR VALUES FROM (%L) TO (%L)',
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

REVOKE ALL ON FUNCTION outbox.ensure_partitions(integer) FROM PUBLIC;
SELECT outbox.ensure_partitions(14);

GRANT USAGE ON SCHEMA outbox TO waybill_api, waybill_worker, waybill_reconciler, waybill_relay;
GRANT SELECT (seq, xid, topic, event_id, created_at), INSERT ON outbox.events TO waybill_api;
GRANT SELECT ON outbox.batches, outbox.cursors TO waybill_api;
GRANT SELECT (seq), INSERT ON outbox.events TO waybill_worker, waybill_reconciler;
GRANT SELECT ON outbox.events TO waybill_relay;
GRANT SELECT, UPDATE ON outbox.cursors TO waybill_relay;
GRANT INSERT ON outbox.batches TO waybill_relay;
GRANT EXECUTE ON FUNCTION outbox.server_identity() TO waybill_relay;
GRANT EXECUTE ON FUNCTION outbox.ensure_partitions(integer) TO waybill_reconciler;
