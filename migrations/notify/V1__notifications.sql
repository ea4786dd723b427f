-- What somebody is told, once. The identity (fact, channel, target, kind) is unique for ever.
CREATE TABLE notify.notifications (
    notification_id text PRIMARY KEY CHECK (notification_id ~ '^ntf_[0-9a-f]{32}$'),
    source text NOT NULL,
    event_id text NOT NULL,
    channel text NOT NULL CHECK (channel IN ('email', 'webhook')),
    target text NOT NULL,
    kind text NOT NULL,
    tenant_id text NOT NULL,
    export_id text NOT NULL,
    -- Rendered once and stored, so that a retry sends the same bytes.
    subject text,
    body text NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'sending', 'accepted', 'rejected', 'unknown')),
    due_at timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    -- Passing failures of its own; that its channel could not be reached is none.
    failures integer NOT NULL DEFAULT 0,
    UNIQUE (source, event_id, channel, target, kind),
    CHECK ((state = 'pending') = (due_at IS NOT NULL)),
    CHECK ((state IN ('pending', 'sending')) = (settled_at IS NULL))
) WITH (fillfactor = 80);

CREATE INDEX notifications_due ON notify.notifications (channel, due_at) WHERE state = 'pending';
CREATE INDEX notifications_unknown ON notify.notifications (settled_at) WHERE state = 'unknown';
CREATE INDEX notifications_of_export ON notify.notifications (export_id);

-- Append-only evidence. The row is committed as `sending` before the first byte leaves; what is found in `sending`
-- after its deadline is unknown, and is never sent again on a guess.
CREATE TABLE notify.attempts (
    notification_id text NOT NULL REFERENCES notify.notifications,
    attempt integer NOT NULL CHECK (attempt >= 1),
    sender text NOT NULL,
    state text NOT NULL CHECK (state IN ('sending', 'accepted', 'rejected', 'retry', 'unknown')),
    started_at timestamptz NOT NULL DEFAULT now(),
    deadline_at timestamptz NOT NULL,
    ended_at timestamptz,
    evidence jsonb,
    PRIMARY KEY (notification_id, attempt),
    CHECK ((state = 'sending') = (ended_at IS NULL))
) WITH (fillfactor = 80);

CREATE INDEX attempts_sending ON notify.attempts (deadline_at) WHERE state = 'sending';

-- The highest offset a partition whose facts may have made notifications. Never lowered, so that a position that
-- was moved back tells nobody again.
CREATE TABLE notify.high_water (
    topic text NOT NULL,
    topic_id text NOT NULL,
    partition integer NOT NULL,
    next_offset bigint NOT NULL,
    PRIMARY KEY (topic, topic_id, partition)
) WITH (fillfactor = 50);

CREATE FUNCTION notify.refuse_lower_high_water() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.next_offset < OLD.next_offset THEN
        RAISE EXCEPTION 'the high-water mark of %-% is % and is never lowered (asked for %)',
            OLD.topic, OLD.partition, OLD.next_offset, NEW.next_offset;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER high_water_only_rises BEFORE UPDATE ON notify.high_water
    FOR EACH ROW EXECUTE FUNCTION notify.refuse_lower_high_water();

GRANT USAGE ON SCHEMA notify TO waybill_notifier, waybill_api;
GRANT SELECT, INSERT, UPDATE ON notify.notifications, notify.attempts, notify.high_water TO waybill_notifier;
GRANT SELECT (notification_id, source, event_id, channel, target, kind, tenant_id, export_id, state, attempts, created_at, settled_at)
    ON notify.notifications TO waybill_api;
GRANT SELECT (notification_id, attempt, state, started_at, ended_at) ON notify.attempts TO waybill_api;
