//! Waybill: every role, and the operator's commands.

fn main() {}
