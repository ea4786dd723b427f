//! Attempts: one try by one worker.
