-- Who owns exports. A caller is a service account of a tenant; its keys rotate freely and hold nothing else.

CREATE TABLE export.tenants (
    tenant_id text PRIMARY KEY CHECK (tenant_id ~ '^ten_[0-9a-f]{32}$'),
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
    running_limit integer NOT NULL DEFAULT 2 CHECK (running_limit BETWEEN 1 AND 1000),
    -- How many exports may wait at once. A new one beyond it is refused.
    waiting_limit integer NOT NULL DEFAULT 10000 CHECK (waiting_limit BETWEEN 1 AND 1000000),
    -- Rows of the results of one UTC day, and bytes of the results that are kept; NULL: as many as there are.
    rows_a_day_limit bigint CHECK (rows_a_day_limit >= 1),
    bytes_kept_limit bigint CHECK (bytes_kept_limit >= 1),
    last_claimed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- A service account without a tenant is an operator's: it may hold the scope `ops` and owns no export.
CREATE TABLE export.service_accounts (
    service_account_id text PRIMARY KEY CHECK (service_account_id ~ '^sva_[0-9a-f]{32}$'),
    tenant_id text REFERENCES export.tenants,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (tenant_id, name)
);

CREATE TABLE export.api_keys (
    api_key_id text PRIMARY KEY CHECK (api_key_id ~ '^key_[0-9a-f]{32}$'),
    service_account_id text NOT NULL REFERENCES export.service_accounts,
    secret_sha256 bytea NOT NULL CHECK (octet_length(secret_sha256) = 32),
    scopes text[] NOT NULL CHECK (
        cardinality(scopes) > 0 AND scopes <@ ARRAY['exports:read', 'exports:write', 'ops']
    ),
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- For how long it was made; NULL: for ever. A rotation shortens expires_at, and gives its successor this.
    valid_seconds bigint CHECK (valid_seconds BETWEEN 1 AND 315360000),
    expires_at timestamptz,
    revoked_at timestamptz,
    -- The key that this one follows.
    rotated_from text REFERENCES export.api_keys,
    CHECK (valid_seconds IS NULL OR expires_at IS NOT NULL)
);

CREATE INDEX api_keys_of_service_account ON export.api_keys (service_account_id, api_key_id);

GRANT USAGE ON SCHEMA export TO waybill_api, waybill_worker, waybill_reconciler;
GRANT SELECT, INSERT, UPDATE (state, running_limit, waiting_limit, rows_a_day_limit, bytes_kept_limit)
ON export.tenants TO waybill_api;
GRANT SELECT, UPDATE (last_claimed_at) ON export.tenants TO waybill_worker;
GRANT SELECT, INSERT ON export.service_accounts TO waybill_api;
GRANT SELECT, INSERT, UPDATE (expires_at, revoked_at) ON export.api_keys TO waybill_api;
