//! What the documents claim by the name of a test is shown by a test of that name.

use std::collections::BTreeSet;

use waybill_testkit::documents::{spans, texts};

/// A name in the documents with so many underscores is a test's: nothing else of ours is called by a whole sentence.
const UNDERSCORES_MIN: usize = 4;

/// Metrics are called by long names too, and so are the figures of the bench, which its sources name.
const METRICS: &str = "waybill_";
const BENCH: &str = "bench/*.rs";

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

/// Whether this is a test's name.
fn is_name(word: &str) -> bool {
    word.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_')
        && word.matches('_').count() >= UNDERSCORES_MIN
        && !word.starts_with(METRICS)
}

#[test]
fn a_whole_sentence_is_a_tests_name_and_a_metrics_is_none() {
    assert!(is_name("a_dump_of_postgres_18_is_read_in"));
    for other in ["row_was_sent", "waybill_relay_oldest_unsent_age_seconds", "a_b_c_d_E", "a b_c_d_e_f"] {
        assert!(!is_name(other), "{other}");
    }
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
    let bench: String = texts(BENCH).into_iter().map(|(_, text)| text).collect();
    let is_figure = |name: &str| bench.contains(&format!("\"{name}\""));
    let mut named = 0;
    let mut missing = Vec::new();
    for (path, text) in texts("*.md") {
        for name in spans(&text).filter(|span| is_name(span) && !is_figure(span)) {
            named += 1;
            if !tests.contains(name) {
                missing.push(format!("{path} names the test {name}, which is not there"));
            }
        }
    }
    assert!(named > 20, "found only {named} names of tests in the documents");
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
}
