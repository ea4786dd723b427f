-- The recorded id of a topic. Lock: none. Index: topics_pkey.
SELECT topic_id FROM topics WHERE topic = $1
