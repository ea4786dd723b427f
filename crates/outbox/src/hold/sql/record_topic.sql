-- Records a topic's id unless one is ($1 = fence, $2 = topic, $3 = topic_id), and answers the one that is.
-- Lock: the cursor's row, shared, so that nobody takes over meanwhile. Idempotency key: the topic; no row means that the
-- fence is another's. Index: cursor_pkey, topics_pkey.
WITH mine AS (
    SELECT fence FROM cursor WHERE fence = $1 FOR SHARE
), recorded AS (
    INSERT INTO topics (topic, topic_id)
    SELECT $2, $3 FROM mine
    ON CONFLICT (topic) DO NOTHING
    RETURNING topic_id
)
SELECT coalesce(
    (SELECT topics.topic_id FROM topics WHERE topics.topic = $2),
    (SELECT recorded.topic_id FROM recorded)
) AS topic_id
FROM mine
