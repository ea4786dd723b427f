//! The logic behind `./dev`.

fn main() {}
