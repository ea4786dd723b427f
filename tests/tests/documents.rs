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

/// The functions that a test runner calls.
fn tests_in(text: &str) -> impl Iterator<Item = String> {
    let mut is_test = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        if ["#[test]", "#[tokio::test"].iter().any(|attribute| line.starts_with(attribute)) {
            is_test = true;
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            let name = line.trim_start_matches("async ").strip_prefix("fn ");
            let name = name.filter(|_| is_test).and_then(|name| name.split(['(', '<']).next());
            is_test = false;
            return name.map(str::to_owned);
        }
        None
    })
}

#[test]
fn only_what_a_test_runner_calls_is_a_test() {
    let text = "#[test]\nfn one() {}\nfn helps() {}\n    #[tokio::test(flavor = \"multi_thread\")]\n    \
                #[ignore]\n    async fn two() {\nasync fn waits() {}";
    assert_eq!(tests_in(text).collect::<Vec<_>>(), ["one", "two"]);
}

#[test]
fn every_test_that_the_documents_name_is_there() {
    let tests: BTreeSet<String> = texts("*.rs").iter().flat_map(|(_, text)| tests_in(text)).collect();
    let is_name = |word: &str| word.chars().all(|char| char.is_ascii_lowercase() || char == '_');
    let mut named = 0;
    let mut missing = Vec::new();
    for (path, text) in texts("*.md") {
        for word in text.split('`').skip(1).step_by(2).filter(|word| is_name(word)) {
            if word.matches('_').count() >= UNDERSCORES_MIN && !word.starts_with(METRICS) {
                named += 1;
                if !tests.contains(word) {
                    missing.push(format!("{path} names the test {word}, which is not there"));
                }
            }
        }
    }
    assert!(named > 20, "found only {named} names of tests in the documents");
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
}
