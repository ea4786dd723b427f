-- Lock: none. Index: none.
SELECT
    current_setting('server_version_num')::integer,
    current_setting('server_version'),
    current_setting('transaction_read_only') = 'on',
    current_setting('max_connections')::integer
