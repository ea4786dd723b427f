//! Jobs: the durable record of an export.
