//! Service accounts.
