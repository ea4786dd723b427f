-- How many exports have had each of their effects, and how many will not.
SELECT
    (SELECT count(*) FROM export.jobs WHERE state = 'succeeded') AS selected,
    (
        SELECT count(*)
        FROM export.facts
        JOIN outbox.events ON events.seq = facts.outbox_seq
        WHERE facts.type LIKE '%.succeeded'
            AND pg_visible_in_snapshot(events.xid, (SELECT cursor.from_snapshot FROM outbox.cursor))
    ) AS acknowledged,
    (SELECT count(*) FROM search.documents WHERE state = 'succeeded') AS found,
    (SELECT coalesce(sum(succeeded), 0)::bigint FROM stats.counters) AS counted,
    (SELECT count(*) FROM notify.notifications WHERE state = 'accepted') AS told,
    (SELECT count(*) FROM export.jobs WHERE state NOT IN ('pending', 'running', 'succeeded')) AS lost
