-- The open holds that somebody wants to go on. Lock: none. Index: holds_open.
SELECT hold_id, resume_requested_at
FROM holds
WHERE ended_at IS NULL AND resume_requested_at IS NOT NULL
ORDER BY hold_id
