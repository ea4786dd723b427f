-- Pins whatever changes how a value is written, so that equal rows give equal bytes on every connection, and bounds
-- what the reading transaction may wait for. Local to that transaction.
-- Lock: none. Idempotency key: none. Index: none.
SELECT
    set_config('TimeZone', 'UTC', true),
    set_config('DateStyle', 'ISO, YMD', true),
    set_config('IntervalStyle', 'iso_8601', true),
    set_config('extra_float_digits', '1', true),
    set_config('bytea_output', 'hex', true),
    set_config('lc_monetary', 'C', true),
    set_config('client_encoding', 'UTF8', true),
    set_config('statement_timeout', '0', true),
    set_config('lock_timeout', '10s', true),
    set_config('idle_in_transaction_session_timeout', '60s', true)
