//! The worked example in `docs/contract.md` is what this version writes.

use std::fmt::Write;

use crate::examples::{schemas, succeeded};

#[test]
fn the_documented_headers_and_bytes_are_the_written_ones() {
    let message = succeeded().encode(schemas()).unwrap();
    let docs = include_str!("../../../../docs/contract.md");
    for (name, value) in &message.headers {
        let line = format!("{name:<15} {}\n", String::from_utf8_lossy(value.as_deref().unwrap()));
        assert!(docs.contains(&line), "docs/contract.md lacks: {line}");
    }
    let mut dump = String::new();
    for line in message.payload.chunks(16) {
        let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(dump, "{}", hex.join(" ")).unwrap();
    }
    assert!(docs.contains(&dump), "docs/contract.md has other bytes than:\n{dump}");
}
