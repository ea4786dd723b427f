-- Lock: none. The topic id that a consumer group is bound to, found through search_path. Index: the primary key.
SELECT topic_id FROM topics WHERE consumer_group = $1 AND topic = $2
