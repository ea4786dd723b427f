//! Named points at which a test build can be stopped.
