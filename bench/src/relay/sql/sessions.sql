-- How many sessions the relay still has. Lock: none. Index: none.
SELECT count(*) FROM pg_stat_activity WHERE usename = 'waybill_relay'
