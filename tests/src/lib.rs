//! The tests of the whole live in `tests/`; this library is empty on purpose.
