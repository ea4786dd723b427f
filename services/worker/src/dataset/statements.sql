-- Writes the two statements that read one tenant's rows of a data set. Every name and the tenant go through format's
-- %I and %L in Postgres itself; no text is ever put together outside of it.
-- Lock: none. Idempotency key: none, it reads no table. Index: none.
SELECT
    format('SELECT count(*) FROM %I.%I WHERE %I = %L', $1::text, $2::text, $3::text, $4::text) AS count_statement,
    format(
        'COPY (SELECT %s FROM %I.%I WHERE %I = %L ORDER BY %s) TO STDOUT (FORMAT csv, HEADER, ENCODING ''UTF8'')',
        (
            SELECT string_agg(format('%I', selected.name), ', ' ORDER BY selected.position)
            FROM unnest($5::text[]) WITH ORDINALITY AS selected (name, position)
        ),
        $1::text, $2::text, $3::text, $4::text,
        (
            SELECT string_agg(format('%I', ordering.name), ', ' ORDER BY ordering.position)
            FROM unnest($6::text[]) WITH ORDINALITY AS ordering (name, position)
        )
    ) AS copy_statement
