//! What the documents claim by the name of a test is shown by a test of that name.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, process};

/// A name in the documents with so many underscores is a test's: nothing else of ours is called by a whole sentence.
const UNDERSCORES_MIN: usize = 4;

/// Metrics are called by long names too.
const METRICS: &str = "waybill_";

/// The text of every file below the root that git knows or would take, and whose name ends so.
fn texts(pattern: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let listed = process::Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pattern])
        .current_dir(&root)
        .output()
        .expect("git lists the files");
    let names = String::from_utf8(listed.stdout).expect("names in UTF-8");
    let names = names.split('\0').filter(|name| root.join(name).is_file());
    names.map(|name| (name.to_owned(), fs::read_to_string(root.join(name)).expect("a text"))).collect()
}

#[test]
fn every_test_that_the_documents_name_is_there() {
    let mut functions = BTreeSet::new();
    for (_, text) in texts("*.rs") {
        let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
        functions.extend(names.map(str::to_owned));
    }
    let is_name = |word: &str| word.chars().all(|char| char.is_ascii_lowercase() || char == '_');
    let mut named = 0;
    let mut missing = Vec::new();
    for (path, text) in texts("*.md") {
        for word in text.split('`').skip(1).step_by(2).filter(|word| is_name(word)) {
            if word.matches('_').count() >= UNDERSCORES_MIN && !word.starts_with(METRICS) {
                named += 1;
                if !functions.contains(word) {
                    missing.push(format!("{path} names the test {word}, which is not there"));
                }
            }
        }
    }
    assert!(named > 20, "found only {named} names of tests in the documents");
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
}
