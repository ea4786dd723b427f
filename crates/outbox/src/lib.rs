//! A transactional outbox: the writer side and the window reading.
