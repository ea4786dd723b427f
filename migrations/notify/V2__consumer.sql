-- The tables of waybill-consumer: the same four in every schema that holds a consumer's effects, because a position
-- commits in one transaction with the effect beside it and the schema may live in a database of its own.

-- A consumer group's declared bond to a topic: without one a partition halts instead of guessing where to start.
CREATE TABLE notify.topics (
    consumer_group text NOT NULL,
    topic text NOT NULL,
    topic_id text NOT NULL,
    bound_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer_group, topic)
);

CREATE TABLE notify.positions (
    consumer_group text NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL CHECK (partition >= 0),
    topic_id text NOT NULL,
    next_offset bigint NOT NULL CHECK (next_offset >= 0),
    fence bigint NOT NULL DEFAULT 0,
    stop_at bigint,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer_group, topic, partition),
    FOREIGN KEY (consumer_group, topic) REFERENCES notify.topics
) WITH (fillfactor = 50);

-- The event keys whose effect this consumer group has had: the dedup scope of an additive effect.
CREATE TABLE notify.inbox (
    consumer_group text NOT NULL,
    source text NOT NULL,
    event_id text NOT NULL,
    -- What the event said; NULL: nobody knows, and every copy counts as the same.
    fingerprint bytea,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer_group, source, event_id)
);

-- A record that could not be applied, kept whole until a person decides.
CREATE TABLE notify.parked (
    consumer_group text NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    record_offset bigint NOT NULL,
    -- A topic that was made again counts its offsets from 0 again.
    topic_id text NOT NULL,
    key bytea,
    header_names text[] NOT NULL,
    header_values bytea[] NOT NULL,
    payload bytea,
    reason text NOT NULL,
    detail text NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer_group, topic, partition, record_offset, topic_id),
    CHECK (cardinality(header_names) = cardinality(header_values))
);

GRANT SELECT ON notify.topics TO waybill_notifier;
GRANT SELECT, INSERT, UPDATE ON notify.positions TO waybill_notifier;
GRANT SELECT, INSERT ON notify.parked TO waybill_notifier;
GRANT SELECT, INSERT ON notify.inbox TO waybill_notifier;
