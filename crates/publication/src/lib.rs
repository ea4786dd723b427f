//! Writes the facts and commands of an export through the outbox, inside the caller's transaction.
