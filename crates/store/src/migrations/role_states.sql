-- Lock: none. Answers one row a name, in the order of the names. Index: pg_authid's on rolname.
SELECT name, EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name)
FROM unnest($1::text[]) WITH ORDINALITY AS asked (name, place)
ORDER BY place
