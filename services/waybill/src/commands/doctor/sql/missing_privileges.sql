-- Lock: none. Answers the asked privileges that the login lacks, in the order in which they were asked for; a column's
-- is enough, because some grants name columns. A table that is not there lacks all. Index: pg_class's on the name.
SELECT privilege || ' on ' || relation
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (relation, privilege, place)
WHERE NOT coalesce(has_any_column_privilege(to_regclass(relation), privilege), false)
ORDER BY place
