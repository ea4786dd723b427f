-- Every topic that was ever sent to. Lock: none. Index: topics_pkey.
SELECT topic, topic_id, recorded_at, decided_by, decision_reason
FROM topics
ORDER BY topic
