//! An outbox for services that Waybill otherwise knows nothing of: installed by the command line, written through Rust,
//! sqlx, SQL and Python, relayed beside the product's own.

mod appending;
mod examples;
mod fixtures;
mod installing;
mod relaying;
mod transactions;
mod upkeep;
