-- The durable record of an export and everything that was tried for it. The job's row is the only place that says
-- which result counts.

-- One state of a data set, for ever: what its file declared, and the types that its columns had when it was applied. The
-- last one of a name is what new exports are accepted with; an export is made by the one that it was accepted with.
CREATE TABLE export.dataset_revisions (
    dataset text NOT NULL CHECK (dataset ~ '^[a-z][a-z0-9_-]{0,62}$'),
    revision bigint NOT NULL CHECK (revision >= 1),
    declaration jsonb NOT NULL,
    columns jsonb NOT NULL,
    applied_by text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (dataset, revision)
);

CREATE TABLE export.jobs (
    export_id text PRIMARY KEY CHECK (export_id ~ '^exp_[0-9a-f]{32}$'),
    tenant_id text NOT NULL REFERENCES export.tenants,
    service_account_id text NOT NULL REFERENCES export.service_accounts,
    dataset text NOT NULL,
    dataset_revision bigint NOT NULL,
    format text NOT NULL CHECK (format IN ('csv', 'ndjson', 'parquet')),
    options jsonb NOT NULL DEFAULT '{}',
    compression text NOT NULL DEFAULT 'none' CHECK (compression IN ('none', 'gzip', 'zstd')),
    columns text[] NOT NULL CHECK (cardinality(columns) > 0),
    filters jsonb NOT NULL DEFAULT '{}',
    -- The name of one of the data set's orders; NULL: rows come as they come.
    order_name text,
    name text,
    labels jsonb NOT NULL DEFAULT '{}',
    notify jsonb NOT NULL DEFAULT '[]',
    state text NOT NULL CHECK (state IN (
        'pending', 'running', 'quarantined', 'succeeded', 'failed', 'cancelled', 'expired', 'deleted'
    )),
    version bigint NOT NULL CHECK (version >= 1),
    fence bigint NOT NULL DEFAULT 0 CHECK (fence >= 0),
    lease_until timestamptz,
    due_at timestamptz,
    -- The due time or the end of the lease, until a reminder moves it on: the reconciler writes the command again when
    -- it is remind_after_ms past. Apart from due_at, so that a reminder never delays a claim.
    remind_at timestamptz,
    transient_failures integer NOT NULL DEFAULT 0,
    work_failures integer NOT NULL DEFAULT 0,
    lost_leases integer NOT NULL DEFAULT 0,
    -- How long the result is kept, from its completion on; NULL: until somebody deletes it. 5 minutes to 366 days.
    retention_seconds bigint CHECK (retention_seconds BETWEEN 300 AND 31622400),
    expires_at timestamptz,
    -- The failed export that this one is another try of.
    retry_of text REFERENCES export.jobs,
    result_candidate_id text,
    -- Of the result, as it was verified. They stay when its file goes: what a tenant uses is counted from them.
    usage_rows bigint CHECK (usage_rows >= 0),
    usage_bytes bigint CHECK (usage_bytes >= 0),
    failure_code text,
    failure_detail text,
    accepted_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    FOREIGN KEY (dataset, dataset_revision) REFERENCES export.dataset_revisions,
    CHECK ((state = 'running') = (lease_until IS NOT NULL)),
    CHECK ((state = 'pending') = (due_at IS NOT NULL)),
    CHECK ((state IN ('pending', 'running')) = (remind_at IS NOT NULL)),
    CHECK ((state IN ('pending', 'running', 'quarantined')) = (finished_at IS NULL)),
    CHECK (state <> 'succeeded' OR result_candidate_id IS NOT NULL),
    CHECK ((usage_rows IS NULL) = (usage_bytes IS NULL)),
    CHECK (state <> 'expired' OR (result_candidate_id IS NOT NULL AND expires_at IS NOT NULL)),
    CHECK (state <> 'failed' OR failure_code IS NOT NULL)
) WITH (fillfactor = 80);

-- The claim: the oldest due job of one tenant.
CREATE INDEX jobs_pending_of_tenant ON export.jobs (tenant_id, due_at) WHERE state = 'pending';
-- The claim of an overdue job, and a tenant's running count.
CREATE INDEX jobs_running_of_tenant ON export.jobs (tenant_id, lease_until) WHERE state = 'running';
-- The reconciler: what nothing has moved in time.
CREATE INDEX jobs_to_remind ON export.jobs (remind_at) WHERE state IN ('pending', 'running');
-- What waits for a person, for operators.
CREATE INDEX jobs_quarantined ON export.jobs (export_id) WHERE state = 'quarantined';
-- The reconciler: whose result's time is over.
CREATE INDEX jobs_to_expire ON export.jobs (expires_at) WHERE state = 'succeeded';
-- A tenant's exports, newest first, in pages.
CREATE INDEX jobs_of_tenant ON export.jobs (tenant_id, accepted_at, export_id);
-- What became of a failed export: the other tries of it.
CREATE INDEX jobs_retry_of ON export.jobs (retry_of) WHERE retry_of IS NOT NULL;
-- The quotas of a tenant, by the index alone: rows of a day, and bytes that are kept, in the order in which they go.
CREATE INDEX jobs_rows_of_tenant ON export.jobs (tenant_id, finished_at) INCLUDE (usage_rows)
WHERE usage_rows IS NOT NULL;
CREATE INDEX jobs_kept_of_tenant ON export.jobs (tenant_id, expires_at) INCLUDE (usage_bytes)
WHERE state = 'succeeded';

-- What a caller wants once: (service account, operation, key) stands for exactly one export, for ever.
CREATE TABLE export.intents (
    service_account_id text NOT NULL REFERENCES export.service_accounts,
    operation text NOT NULL,
    idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
    request_sha256 bytea NOT NULL CHECK (octet_length(request_sha256) = 32),
    -- What was asked for, to say in what another request under the same key differs; NULL: the operation and the export
    -- that it was asked of say all.
    request jsonb,
    export_id text NOT NULL UNIQUE REFERENCES export.jobs DEFERRABLE INITIALLY DEFERRED,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (service_account_id, operation, idempotency_key)
);

-- One try by one worker, numbered by its fence.
CREATE TABLE export.attempts (
    export_id text NOT NULL REFERENCES export.jobs,
    fence bigint NOT NULL CHECK (fence >= 1),
    -- Of this export: 1, 2, 3 without a gap, which fences need not be.
    number integer NOT NULL CHECK (number >= 1),
    worker text NOT NULL,
    state text NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'lost', 'fenced')),
    claimed_at timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now(),
    rows_done bigint NOT NULL DEFAULT 0,
    -- What the planner of the data set's database expects.
    rows_estimated bigint,
    bytes_done bigint NOT NULL DEFAULT 0,
    ended_at timestamptz,
    error_code text,
    error_detail text,
    PRIMARY KEY (export_id, fence),
    UNIQUE (export_id, number),
    CHECK ((state = 'running') = (ended_at IS NULL))
) WITH (fillfactor = 80);

-- A file that an attempt writes. The row exists before the upload starts, so no object is ever unknown.
CREATE TABLE export.candidates (
    candidate_id text PRIMARY KEY CHECK (candidate_id ~ '^can_[0-9a-f]{32}$'),
    export_id text NOT NULL,
    fence bigint NOT NULL,
    object_key text NOT NULL UNIQUE,
    -- The store's name for an upload in parts, where it has one: what an upload that never ended is aborted by.
    upload_id text,
    state text NOT NULL CHECK (state IN ('writing', 'verified', 'selected', 'condemned', 'deleted')),
    rows bigint,
    bytes bigint,
    sha256 bytea CHECK (octet_length(sha256) = 32),
    -- What the snapshot that its rows come from is of: nothing beyond this position of the data set's database, and
    -- everything that was committed there by this time, where it is known.
    as_of_lsn pg_lsn,
    as_of_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    verified_at timestamptz,
    condemned_at timestamptz,
    condemned_because text CHECK (condemned_because IN ('attempt-over', 'fenced', 'export-expired', 'export-deleted')),
    deleted_at timestamptz,
    FOREIGN KEY (export_id, fence) REFERENCES export.attempts,
    CHECK (
        state NOT IN ('verified', 'selected')
        OR (rows IS NOT NULL AND bytes IS NOT NULL AND sha256 IS NOT NULL AND verified_at IS NOT NULL)
    ),
    CHECK ((state IN ('condemned', 'deleted')) = (condemned_at IS NOT NULL)),
    CHECK ((condemned_at IS NULL) = (condemned_because IS NULL)),
    CHECK ((state = 'deleted') = (deleted_at IS NOT NULL))
);

-- One export has one selected candidate at the most, whatever the code above believes.
CREATE UNIQUE INDEX candidates_one_selected ON export.candidates (export_id) WHERE state = 'selected';
-- What an attempt wrote: for its export's timeline, and for the reference above.
CREATE INDEX candidates_of_attempt ON export.candidates (export_id, fence);
-- The collector: what was never selected, oldest first, and what waits to be deleted.
CREATE INDEX candidates_unselected ON export.candidates (created_at) WHERE state IN ('writing', 'verified');
CREATE INDEX candidates_condemned ON export.candidates (condemned_at) WHERE state = 'condemned';

ALTER TABLE export.jobs ADD FOREIGN KEY (result_candidate_id) REFERENCES export.candidates;

-- Every fact published about an export: its version grows by one exactly when a row is added here.
CREATE TABLE export.facts (
    export_id text NOT NULL REFERENCES export.jobs,
    version bigint NOT NULL,
    event_id text NOT NULL UNIQUE,
    type text NOT NULL,
    outbox_seq bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (export_id, version)
);

-- Every command written for an export: the first with its acceptance, later ones by the reconciler.
CREATE TABLE export.commands (
    export_id text NOT NULL REFERENCES export.jobs,
    command_id text NOT NULL UNIQUE,
    reason text NOT NULL CHECK (reason IN ('accepted', 'overdue', 'released')),
    outbox_seq bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (export_id, outbox_seq)
);

-- What a person decided, append-only.
CREATE TABLE export.decisions (
    decision_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    principal text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    reason text NOT NULL CHECK (length(reason) > 0),
    decided_at timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT ON export.dataset_revisions TO waybill_api;
GRANT SELECT, INSERT ON export.jobs TO waybill_api;
GRANT UPDATE (
    state, version, fence, lease_until, due_at, remind_at, transient_failures, work_failures, lost_leases,
    failure_code, failure_detail, finished_at
) ON export.jobs TO waybill_api;
GRANT SELECT, INSERT ON export.intents, export.facts, export.commands, export.decisions TO waybill_api;
GRANT SELECT ON export.attempts, export.candidates TO waybill_api;
-- A cancel ends the attempt under way; a deletion gives the file to the collector.
GRANT UPDATE (state, ended_at, error_code, error_detail) ON export.attempts TO waybill_api;
GRANT UPDATE (state, condemned_at, condemned_because) ON export.candidates TO waybill_api;

GRANT SELECT ON export.dataset_revisions TO waybill_worker;
GRANT SELECT ON export.jobs TO waybill_worker;
GRANT UPDATE (
    state, version, fence, lease_until, due_at, remind_at, transient_failures, work_failures, lost_leases,
    expires_at, result_candidate_id, usage_rows, usage_bytes, failure_code, failure_detail, finished_at
) ON export.jobs TO waybill_worker;
GRANT SELECT, INSERT, UPDATE ON export.attempts, export.candidates TO waybill_worker;
GRANT SELECT, INSERT ON export.facts TO waybill_worker;

GRANT SELECT, UPDATE (remind_at, state, version) ON export.jobs TO waybill_reconciler;
GRANT SELECT, INSERT ON export.commands, export.facts TO waybill_reconciler;
GRANT SELECT ON export.attempts TO waybill_reconciler;
GRANT SELECT, UPDATE (state, condemned_at, condemned_because, deleted_at) ON export.candidates TO waybill_reconciler;
