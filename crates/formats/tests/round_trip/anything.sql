-- Rows of random values over the whole range of each type that is decoded for CSV, the same in every run.
-- Lock: none. Idempotency key: none. Index: none.
CREATE TABLE anything AS
SELECT
    random() < 0.5 AS a_bool,
    (random() * 65535 - 32768)::smallint AS an_int2,
    (random() * 4294967295 - 2147483648)::integer AS an_int4,
    ((random() - 0.5) * 1.8e19)::bigint AS an_int8,
    (random() * 4294967295)::bigint::oid AS an_oid,
    (random() - 0.5)::numeric * (10::numeric ^ (random() * 60 - 30)::integer) AS a_numeric,
    round((random() * 1e6)::numeric, (random() * 8)::integer) AS a_price,
    trunc((random() * 1e9)::numeric) * 10000 AS a_round_number,
    exp((random() - 0.5) * 1400) * sign(random() - 0.5) AS a_float8,
    exp((random() - 0.5) * 160)::real AS a_float4,
    date '4714-11-24 BC' + (random() * 2147483493)::integer AS a_date,
    date '2000-01-01' + (random() * 40000 - 20000)::integer AS a_near_date,
    time '00:00' + random() * interval '24 hours' AS a_time,
    (time '00:00' + trunc(random() * 86400) * interval '1 second')::text::timetz AS a_timetz,
    timestamp '4714-11-24 00:00:00 BC' + (random() * 298989 * 365.2425) * interval '1 day' AS a_timestamp,
    timestamptz '2000-01-01' + ((random() - 0.5) * 1e9) * interval '1 second' AS a_timestamptz,
    timestamptz '2000-01-01' + trunc((random() - 0.5) * 1e9) * interval '100 milliseconds' AS a_tenth,
    md5(random()::text)::uuid AS a_uuid,
    decode(substr(md5(random()::text), 1, 2 * (random() * 16)::integer), 'hex') AS a_bytea,
    ('10.0.0.0'::inet + (random() * 1e8)::bigint) AS an_inet,
    ('::'::inet + ((random() * 1e18)::bigint)) AS an_inet6,
    json_build_object('a', random(), 'b', substr(md5(random()::text), 1, 3))::json AS a_json,
    jsonb_build_object('n', random(), 'note', 'a "b", c') AS a_jsonb,
    translate(substr(md5(random()::text), 1, (random() * 32)::integer), '0123456789', E'",\n\r;|\t''訂🚚') AS a_text,
    CASE WHEN random() < 0.5 THEN substr(md5(random()::text), 1, (random() * 3)::integer) END AS a_null,
    ARRAY[random(), NULL, (random() * 10)::integer] AS an_array
FROM generate_series(1, 20000)
