-- Who owns exports. A caller is a service account of a tenant; its keys rotate freely and hold nothing else.

CREATE TABLE export.tenants (
    tenant_id text PRIMARY KEY CHECK (tenant_id ~ '^ten_[0-9a-f]{32}$'),
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
    running_limit integer NOT NULL DEFAULT 2 CHECK (running_limit BETWEEN 1 AND 1000),
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
    expires_at timestamptz,
    revoked_at timestamptz
);

CREATE INDEX api_keys_of_service_account ON export.api_keys (service_account_id);

GRANT USAGE ON SCHEMA export TO waybill_api, waybill_worker, waybill_reconciler;
GRANT SELECT, INSERT, UPDATE (state) ON export.tenants TO waybill_api;
GRANT SELECT, UPDATE (last_claimed_at) ON export.tenants TO waybill_worker;
GRANT SELECT, INSERT ON export.service_accounts TO waybill_api;
GRANT SELECT, INSERT, UPDATE (revoked_at) ON export.api_keys TO waybill_api;
