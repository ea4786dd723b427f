-- Rows $2 to $3 of the tenant $1, the same in every run.
INSERT INTO shop.{table}
SELECT
    $1::text,
    n,
    n % 100000,
    'customer ' || n % 100000,
    (n % 1000000)::numeric / 7,
    sin(n),
    n % 3 = 0,
    timestamptz '2026-01-01 00:00:00+00' + n * interval '1.000123 seconds',
    date '2026-01-01' + (n % 365)::integer,
    md5(n::text)::uuid,
    CASE n % 4 WHEN 0 THEN NULL WHEN 1 THEN 'plain' WHEN 2 THEN 'two, "quoted"' ELSE '花' || n % 1000 END
FROM generate_series($2::bigint, $3::bigint) AS n
