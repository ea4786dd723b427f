//! What a new version is held against, and how much is said about it.

use waybill_avro_evolution::{
    Direction, INCOMPATIBILITIES_MAX, Incomparable, IncompatibilityKind, Level, Schema, breakages,
    incompatibilities,
};

fn parse(text: &str) -> Schema {
    Schema::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn record(fields: &[&str]) -> Schema {
    parse(&format!(r#"{{"type":"record","name":"R","fields":[{}]}}"#, fields.join(",")))
}

const A: &str = r#"{"name":"a","type":"int"}"#;
const B: &str = r#"{"name":"b","type":"int"}"#;
const B_DEFAULT: &str = r#"{"name":"b","type":"int","default":0}"#;

/// Which versions break, the latest first, and in which direction.
fn broken(level: Level, new: &Schema, earlier: &[Schema]) -> Vec<(usize, Direction)> {
    breakages(level, new, earlier).iter().map(|breakage| (breakage.version, breakage.direction)).collect()
}

#[test]
fn each_level_asks_for_its_versions_and_directions() {
    // Version 0 lacks b, version 1 has it; the new one asks for b, which version 0 never wrote.
    let earlier = [record(&[A]), record(&[A, B])];
    let new = record(&[A, B]);
    let (read, written) = (Direction::NewReadsOld, Direction::OldReadsNew);
    assert_eq!(broken(Level::None, &new, &earlier), []);
    assert_eq!(broken(Level::Backward, &new, &earlier), []);
    assert_eq!(broken(Level::BackwardTransitive, &new, &earlier), [(0, read)]);
    assert_eq!(broken(Level::Forward, &new, &earlier), []);
    assert_eq!(broken(Level::ForwardTransitive, &new, &earlier), []);
    assert_eq!(broken(Level::FullTransitive, &new, &earlier), [(0, read)]);
    // One without a is not read by anybody who asks for it.
    let without = record(&[B_DEFAULT]);
    assert_eq!(broken(Level::Backward, &without, &earlier), []);
    assert_eq!(broken(Level::Forward, &without, &earlier), [(1, written)]);
    assert_eq!(broken(Level::ForwardTransitive, &without, &earlier), [(1, written), (0, written)]);
    assert_eq!(broken(Level::Full, &without, &earlier), [(1, written)]);
    assert_eq!(broken(Level::FullTransitive, &without, &earlier), [(1, written), (0, written)]);
}

#[test]
fn the_first_version_breaks_nothing() {
    for level in Level::ALL {
        assert_eq!(breakages(level, &record(&[A]), &[]), []);
    }
}

#[test]
fn a_level_is_written_as_registries_write_it() {
    for level in Level::ALL {
        assert_eq!(level.as_str().parse(), Ok(level));
    }
    let error = "backward".parse::<Level>().unwrap_err();
    assert!(error.to_string().contains("BACKWARD, FORWARD or FULL"));
}

#[test]
fn all_reasons_are_given_and_not_the_first_one() {
    let reader = record(&[r#"{"name":"a","type":"string"}"#, B, r#"{"name":"c","type":["null","int"]}"#]);
    let writer = record(&[A, r#"{"name":"c","type":["null","string"]}"#]);
    let found: Vec<(IncompatibilityKind, String)> = incompatibilities(&reader, &writer)
        .unwrap()
        .into_iter()
        .map(|reason| (reason.kind, reason.location))
        .collect();
    assert_eq!(
        found,
        [
            (IncompatibilityKind::TypeMismatch, "/fields/0/type".to_owned()),
            (IncompatibilityKind::ReaderFieldMissingDefaultValue, "/fields/1".to_owned()),
            (IncompatibilityKind::MissingUnionBranch, "/fields/2/type/1".to_owned()),
        ]
    );
}

#[test]
fn a_field_that_means_two_of_the_writers_is_no_answer_and_breaks_the_level() {
    let reader = record(&[r#"{"name":"a","aliases":["b"],"type":"int"}"#]);
    let writer = record(&[A, B]);
    let unanswered = Incomparable::AmbiguousField { record: "R".into(), field: "a".into() };
    assert_eq!(incompatibilities(&reader, &writer), Err(unanswered.clone()));
    assert_eq!(breakages(Level::Backward, &reader, &[writer])[0].reasons, Err(unanswered));
}

#[test]
fn reasons_that_multiply_are_bounded() {
    // Each record uses the one before it twice, and the innermost has one reason: there would be 2^40.
    let nested = |innermost: &str| {
        let mut types = vec![format!(
            r#"{{"type":"record","name":"R0","fields":[{{"name":"x","type":"{innermost}"}}]}}"#
        )];
        for n in 1..=40 {
            types.push(format!(
                r#"{{"type":"record","name":"R{n}","fields":[{{"name":"l","type":"R{0}"}},{{"name":"r","type":"R{0}"}}]}}"#,
                n - 1
            ));
        }
        let fields: Vec<String> =
            types.iter().zip(0..).map(|(ty, n)| format!(r#"{{"name":"f{n}","type":{ty}}}"#)).collect();
        parse(&format!(r#"{{"type":"record","name":"All","fields":[{}]}}"#, fields.join(",")))
    };
    let found = incompatibilities(&nested("int"), &nested("string")).unwrap();
    assert_eq!(found.len(), INCOMPATIBILITIES_MAX);
}

#[test]
fn comparisons_that_lead_deep_need_no_stack() {
    // Two circles whose lengths share no divisor: the pairs are met one within the other, all 997 * 499 of them but for the
    // bound on their number.
    let circle = |length: usize| {
        let link = |n: usize| {
            format!(
                r#"{{"type":"record","name":"R","namespace":"n{n}","fields":[{{"name":"next","type":"n{}.R"}}]}}"#,
                (n + 1) % length
            )
        };
        let links: Vec<String> = (0..length).rev().map(link).collect();
        format!("[{}]", links.join(","))
    };
    let (one, two) = (parse(&circle(509)), parse(&circle(500)));
    assert_eq!(incompatibilities(&one, &two), Ok(Vec::new()));
}

#[test]
fn unions_that_multiply_are_bounded() {
    let wide = |kind: &str| {
        let branch = |n: usize| format!(r#"{{"type":"fixed","name":"{kind}{n}","size":1}}"#);
        parse(&format!("[{}]", (0..2_000).map(branch).collect::<Vec<_>>().join(",")))
    };
    let found = incompatibilities(&wide("A"), &wide("B"));
    assert_eq!(found, Err(Incomparable::TooManyPairs { max: 500_000 }));
}
