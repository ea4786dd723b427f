-- Who pgbench's clients are, by their number, and ids for them that rise with time as the api's do.
CREATE SCHEMA bench;
CREATE TABLE bench.callers AS
SELECT
    (row_number() OVER (ORDER BY api_keys.api_key_id) - 1)::integer AS client,
    service_accounts.tenant_id AS ten,
    service_accounts.service_account_id AS sva,
    api_keys.api_key_id AS key
FROM export.api_keys
JOIN export.service_accounts USING (service_account_id)
WHERE service_accounts.tenant_id IS NOT NULL;
ALTER TABLE bench.callers ADD PRIMARY KEY (client);
CREATE FUNCTION bench.id(prefix text) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT prefix || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
        || '7' || substr(md5(random()::text), 1, 19)
$$;
GRANT USAGE ON SCHEMA bench TO waybill_api;
GRANT SELECT ON bench.callers TO waybill_api;
ANALYZE bench.callers;
