-- Asks the relay to go on with the holds $1 that stand and have no refused row left; a topic's has none.
-- Lock: the holds' rows. Idempotency key: hold_id; asking again keeps the first time. Index: holds_open, parked_open.
UPDATE holds
SET resume_requested_at = coalesce(resume_requested_at, now())
WHERE hold_id = ANY ($1)
    AND ended_at IS NULL
    AND (
        scope = 'topic'
        OR NOT EXISTS (SELECT FROM parked WHERE parked.hold_id = holds.hold_id AND parked.state = 'refused')
    )
