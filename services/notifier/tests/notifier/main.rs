//! The notifier against real sockets and a real Postgres: what leaves, when it leaves, and what is known afterwards.

mod claims;
mod fixtures;
mod intents;
mod mail_phases;
mod missing_channels;
mod receiver;
mod role;
mod sending;
mod smtp_server;
mod stored;
mod webhook_phases;
