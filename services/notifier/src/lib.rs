//! Tells people and systems about facts, once, over mail and webhooks.
