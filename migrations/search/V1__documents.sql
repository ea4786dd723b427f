-- One version of the projection a row; the tables of a generation are the partitions that carry its number.
CREATE TABLE search.generations (
    generation integer PRIMARY KEY CHECK (generation >= 1),
    state text NOT NULL CHECK (state IN (
        'planned', 'building', 'indexing', 'catching_up', 'verifying', 'ready',
        'active', 'warm', 'retiring', 'retired', 'aborted', 'failed'
    )),
    consumer_group text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX generations_one_active ON search.generations (state) WHERE state = 'active';

-- Which generation readers are served from. Readers read it and the rows in one snapshot.
CREATE TABLE search.pointer (
    projection text PRIMARY KEY CHECK (projection = 'search'),
    generation integer NOT NULL REFERENCES search.generations,
    epoch bigint NOT NULL DEFAULT 1
);

INSERT INTO search.generations (generation, state, consumer_group) VALUES (1, 'active', 'waybill.search.g1');
INSERT INTO search.pointer (projection, generation) VALUES ('search', 1);

-- An export as a reader can find it. The version of the export, never an offset, orders writes; a deleted export
-- stays as a tombstone until its generation retires, so that nothing late brings it back.
CREATE TABLE search.documents (
    generation integer NOT NULL,
    export_id text NOT NULL,
    tenant_id text NOT NULL,
    version bigint NOT NULL,
    deleted boolean NOT NULL DEFAULT false,
    state text NOT NULL,
    dataset text NOT NULL,
    format text NOT NULL,
    name text,
    labels jsonb NOT NULL,
    rows bigint,
    bytes bigint,
    accepted_at timestamptz NOT NULL,
    finished_at timestamptz,
    tokens tsvector NOT NULL,
    event_id text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (generation, export_id)
) PARTITION BY LIST (generation);

CREATE TABLE search.documents_g1 PARTITION OF search.documents FOR VALUES IN (1);

CREATE INDEX documents_tokens ON search.documents USING gin (tokens) WITH (fastupdate = off);
CREATE INDEX documents_of_tenant ON search.documents (tenant_id, accepted_at DESC);

GRANT USAGE ON SCHEMA search TO waybill_search, waybill_api;
GRANT SELECT ON search.generations, search.pointer TO waybill_search, waybill_api;
GRANT SELECT, INSERT, UPDATE ON search.documents TO waybill_search;
GRANT SELECT ON search.documents TO waybill_api;
