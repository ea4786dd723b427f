//! Our decisions beside those of Avro's own Java library, which runs in a process of its own.

mod agreement;
mod campaign;
mod corners;
mod decoding;
mod differences;
mod fuzz;
mod generator;
mod java;
mod mutation;
mod published;
mod shrink;
mod values;

use agreement::{Verdict, compare, javas, ours, parse, reading};
use java::Java;

#[test]
fn every_pair_of_the_published_schemas_is_judged_as_java_judges_it() {
    let texts: Vec<&str> = published::SCHEMAS.iter().map(|(_, text)| *text).collect();
    let pairs: Vec<(&str, &str)> =
        texts.iter().flat_map(|reader| texts.iter().map(|writer| (*reader, *writer))).collect();
    let questions: Vec<_> = pairs.iter().map(|(reader, writer)| compare(reader, writer)).collect();
    let answers = Java::start().ask(&questions);
    for ((reader, writer), answer) in pairs.iter().zip(&answers) {
        assert_eq!(ours(reader, writer), javas(answer), "\nreader {reader}\nwriter {writer}");
    }
    println!("{} pairs of {} published schemas: all agree", pairs.len(), texts.len());
}

#[test]
fn the_published_verdicts_are_ours_without_java_too() {
    for (reader, writer, reasons) in published::INCOMPATIBLE {
        let Verdict::Reasons(found) = ours(published::schema(reader), published::schema(writer)) else {
            panic!("{reader} and {writer} have an answer");
        };
        let found: Vec<[&str; 3]> =
            found.iter().map(|reason| [0, 1, 2].map(|at| reason[at].as_str().unwrap())).collect();
        let expected: Vec<[&str; 3]> =
            reasons.iter().map(|(kind, location, message)| [*kind, *location, *message]).collect();
        assert_eq!(found, expected, "{reader} reads {writer}");
    }
    for (reader, writer) in published::COMPATIBLE {
        let verdict = ours(published::schema(reader), published::schema(writer));
        assert_eq!(verdict, Verdict::Reasons(Vec::new()), "{reader} reads {writer}");
    }
}

#[test]
fn what_differed_once_agrees_now() {
    let kept = campaign::kept();
    let questions: Vec<_> = kept.iter().map(|(reader, writer)| compare(reader, writer)).collect();
    for ((reader, writer), answer) in kept.iter().zip(Java::start().ask(&questions)) {
        assert_eq!(ours(reader, writer), javas(&answer), "\nreader {reader}\nwriter {writer}");
    }
}

#[test]
fn a_hundred_thousand_pairs_are_judged_as_java_judges_them() {
    let wanted = campaign::named("WAYBILL_AVRO_PAIRS", 100_000);
    let counts = campaign::compare_pairs(usize::try_from(wanted).expect("a number of pairs"));
    println!("seed {}: {counts}", campaign::seed());
}

#[test]
fn a_text_is_a_schema_where_java_says_so_and_the_same_one() {
    let (accepted, refused) = campaign::parse_schemas(20_000);
    println!("seed {}: {accepted} schemas read alike, {refused} texts refused by both", campaign::seed());
}

#[test]
fn corners_of_the_notation_are_read_as_java_reads_them_except_for_those_that_are_listed() {
    let mut java = Java::start();
    for text in corners::CORNERS {
        let (ours, javas) = (reading(text, &[]), java.ask_one(parse(text, &[])));
        assert!(campaign::agree(&ours, &javas), "{text}\nours {ours:#?}\nJava's {javas:#}");
    }
    for (text, why) in corners::DIFFERENCES {
        let (ours, javas) = (reading(text, &[]), java.ask_one(parse(text, &[])));
        assert!(!campaign::agree(&ours, &javas), "{text} is read alike now, and is said to differ: {why}");
    }
}

#[test]
fn what_is_compatible_is_read_and_as_java_reads_it() {
    let wanted = campaign::named("WAYBILL_AVRO_TRIALS", 50_000);
    let counts = decoding::decode_trials(usize::try_from(wanted).expect("a number of trials"));
    let made: usize = counts.values().sum();
    println!("seed {}: {made} values of compatible pairs", campaign::seed());
    counts.iter().for_each(|(outcome, count)| println!("{count:>9} {outcome}"));
}

#[test]
fn any_bytes_are_an_error_or_one_value() {
    let wanted = campaign::named("WAYBILL_AVRO_INPUTS", 1_000_000);
    let (fed, values) = fuzz::feed(usize::try_from(wanted).expect("a number of inputs"));
    println!("seed {}: {fed} inputs, {values} of them values, no panic", campaign::seed());
}
