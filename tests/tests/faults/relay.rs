//! Rows 6, 10 to 19 and 49: what a relay, its broker and its database may do, and no row is lost or out of order.

mod broker;
mod campaign;
mod crash;
mod export;
mod half_open;
mod kills;
mod ledger;
mod network;
mod observed;
mod scene;
mod zombie;
