-- Who reads, and from what kind of server.
-- Lock: none. Idempotency key: none, it reads. Index: none.
SELECT
    current_user::text AS reader,
    pg_catalog.pg_is_in_recovery() AS is_standby,
    pg_catalog.current_setting('server_encoding') AS encoding,
    pg_catalog.current_setting('server_version_num')::integer AS version
