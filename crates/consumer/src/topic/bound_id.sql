-- The topic id that a consumer group is bound to.
-- Lock: none. Index: topics_pkey.
SELECT topic_id
FROM topics
WHERE consumer_group = $1 AND topic = $2;
