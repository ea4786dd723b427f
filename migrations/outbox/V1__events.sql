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

-- The relay's cursor: the window (from, to, after_seq), under a lease and a fence. One row an outbox.
CREATE TABLE outbox.cursors (
    outbox text PRIMARY KEY,
    from_snapshot pg_snapshot NOT NULL,
    to_snapshot pg_snapshot NOT NULL,
    after_seq bigint NOT NULL DEFAULT 0,
    fence bigint NOT NULL DEFAULT 0,
    holder text,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    moved_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 10);

-- Nothing seen yet: every row that is ever committed is outside of this snapshot.
INSERT INTO outbox.cursors (outbox, from_snapshot, to_snapshot) VALUES ('main', '1:1:', '1:1:');

-- When Kafka acknowledged what: one row for each batch by which the cursor moved. A row of outbox.events was
-- acknowledged with the first batch whose range holds its seq and whose window holds its xid.
CREATE TABLE outbox.batches (
    batch_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    outbox text NOT NULL REFERENCES outbox.cursors,
    fence bigint NOT NULL,
    from_snapshot pg_snapshot NOT NULL,
    to_snapshot pg_snapshot NOT NULL,
    after_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    events integer NOT NULL,
    acknowledged_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX batches_by_last_seq ON outbox.batches (last_seq);

-- Makes the daily partitions of today and the days ahead (UTC), and answers how many it made.
CREATE FUNCTION outbox.ensure_partitions(days_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first_day date := (now() AT TIME ZONE 'UTC')::date;
    day date;
    made integer := 0;
BEGIN
    IF days_ahead NOT BETWEEN 1 AND 60 THEN
        RAISE EXCEPTION 'days_ahead must be between 1 and 60, got %', days_ahead;
    END IF;
    -- Two callers at once would both find the partition missing.
    PERFORM pg_advisory_xact_lock(hashtext('outbox.ensure_partitions'));
    FOR day IN SELECT first_day + n FROM generate_series(0, days_ahead) AS n LOOP
        IF to_regclass(format('outbox.%I', 'events_' || to_char(day, 'YYYYMMDD'))) IS NULL THEN
            EXECUTE format(
                'CREATE TABLE outbox.%I PARTITION OF outbox.events FOR VALUES FROM (%L) TO (%L)',
                'events_' || to_char(day, 'YYYYMMDD'),
                to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00',
                to_char(day + 1, 'YYYY-MM-DD') || ' 00:00:00+00'
            );
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$$;

REVOKE ALL ON FUNCTION outbox.ensure_partitions(integer) FROM PUBLIC;
SELECT outbox.ensure_partitions(14);

GRANT USAGE ON SCHEMA outbox TO waybill_api, waybill_worker, waybill_reconciler, waybill_relay;
GRANT SELECT, INSERT ON outbox.events TO waybill_api;
GRANT SELECT ON outbox.batches, outbox.cursors TO waybill_api;
GRANT SELECT (seq), INSERT ON outbox.events TO waybill_worker, waybill_reconciler;
GRANT SELECT ON outbox.events TO waybill_relay;
GRANT SELECT, UPDATE ON outbox.cursors TO waybill_relay;
GRANT SELECT, INSERT ON outbox.batches TO waybill_relay;
GRANT EXECUTE ON FUNCTION outbox.ensure_partitions(integer) TO waybill_reconciler;
