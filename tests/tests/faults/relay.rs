//! Rows 6 and 10 to 19: what a relay, its broker and its database may do, and no row is lost or out of order.

mod broker;
mod campaign;
mod crash;
mod export;
mod kills;
mod ledger;
mod network;
mod observed;
mod scene;
mod zombie;
