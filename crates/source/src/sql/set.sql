-- Sets what a reading transaction needs, until its end. A value is a JSON string, or an array of them, which becomes an
-- array of text as Postgres itself writes it.
-- Lock: none. Idempotency key: none. Index: none.
SELECT
    pg_catalog.set_config(
        given.name,
        CASE pg_catalog.jsonb_typeof(given.value)
            WHEN 'array' THEN (
                SELECT pg_catalog.array_agg(element.text ORDER BY element.position)::text
                FROM pg_catalog.jsonb_array_elements_text(given.value) WITH ORDINALITY AS element (text, position)
            )
            ELSE given.value #>> '{}'
        END,
        true
    )
FROM unnest($1::text[], $2::jsonb[]) AS given (name, value)
