-- Agrees to another id of a topic ($1 = topic, $2 = topic_id, $3 = actor, $4 = reason), asks the relay to try it, and
-- answers the id of before. Lock: the topic's row, then its hold's. Idempotency key: the id. Index: topics_pkey,
-- holds_of_a_topic.
WITH old AS (
    SELECT topic, topic_id FROM topics WHERE topic = $1 FOR UPDATE
), agreed AS (
    UPDATE topics
    SET topic_id = $2, recorded_at = now(), decided_by = $3, decision_reason = $4
    FROM old
    WHERE topics.topic = old.topic AND old.topic_id <> $2
), resumed AS (
    UPDATE holds
    SET resume_requested_at = clock_timestamp()
    FROM old
    WHERE holds.topic = old.topic AND holds.scope = 'topic' AND holds.ended_at IS NULL
)
SELECT topic_id FROM old
