//! The claim of the next due job under a fence and a lease.
