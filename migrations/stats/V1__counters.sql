-- One version of the projection a row; the tables of a generation are the partitions that carry its number.
CREATE TABLE stats.generations (
    generation integer PRIMARY KEY CHECK (generation >= 1),
    state text NOT NULL CHECK (state IN (
        'planned', 'building', 'indexing', 'catching_up', 'verifying', 'ready',
        'active', 'warm', 'retiring', 'retired', 'aborted', 'failed'
    )),
    consumer_group text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX generations_one_active ON stats.generations (state) WHERE state = 'active';

-- Which generation readers are served from. Readers read it and the rows in one snapshot.
CREATE TABLE stats.pointer (
    projection text PRIMARY KEY CHECK (projection = 'stats'),
    generation integer NOT NULL REFERENCES stats.generations,
    epoch bigint NOT NULL DEFAULT 1
);

INSERT INTO stats.generations (generation, state, consumer_group) VALUES (1, 'active', 'waybill.stats.g1');
INSERT INTO stats.pointer (projection, generation) VALUES ('stats', 1);

-- Sums over facts. Additive, so each fact counts once: its key goes into the inbox in the same transaction.
CREATE TABLE stats.counters (
    generation integer NOT NULL,
    tenant_id text NOT NULL,
    dataset text NOT NULL,
    requested bigint NOT NULL DEFAULT 0,
    succeeded bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    cancelled bigint NOT NULL DEFAULT 0,
    expired bigint NOT NULL DEFAULT 0,
    deleted bigint NOT NULL DEFAULT 0,
    rows bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (generation, tenant_id, dataset)
) PARTITION BY LIST (generation);

CREATE TABLE stats.counters_g1 PARTITION OF stats.counters FOR VALUES IN (1) WITH (fillfactor = 50);

GRANT USAGE ON SCHEMA stats TO waybill_stats, waybill_api;
GRANT SELECT ON stats.generations, stats.pointer TO waybill_stats, waybill_api;
GRANT SELECT, INSERT, UPDATE ON stats.counters TO waybill_stats;
GRANT SELECT ON stats.counters TO waybill_api;
