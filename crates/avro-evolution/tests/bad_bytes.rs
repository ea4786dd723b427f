//! Bytes that are no value end in an error, soon and without a large allocation.

use serde::de::IgnoredAny;
use waybill_avro_evolution::{BYTELESS_ITEMS_MAX, DecodeError, Plan, Schema, VALUE_DEPTH_MAX, Value};

fn plan(text: &str) -> Plan {
    Plan::of(&Schema::parse(text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

fn evolved(writer: &str, reader: &str) -> Plan {
    let parse = |text: &str| Schema::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    Plan::new(&parse(writer), &parse(reader))
}

fn error(plan: &Plan, bytes: &[u8]) -> DecodeError {
    plan.decode(bytes).expect_err("these bytes are no value")
}

/// A number as Avro writes it.
fn long(value: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let schema = Schema::parse("\"long\"").expect("a schema");
    schema.encode(&Value::Long(value), &mut bytes).expect("a long");
    bytes
}

#[test]
fn lengths_beyond_the_end_and_negative_ones_are_errors() {
    for ty in ["\"string\"", "\"bytes\""] {
        for length in [4, 1 << 20, i64::MAX, -1, i64::MIN] {
            let bytes = [long(length), b"abc".to_vec()].concat();
            assert_eq!(error(&plan(ty), &bytes), DecodeError::InvalidLength { at: 0, length });
        }
    }
    let fixed = plan(r#"{"type":"fixed","name":"F","size":2000000000}"#);
    assert_eq!(error(&fixed, b"abc"), DecodeError::EndOfInput { at: 3 });
}

#[test]
fn a_value_that_is_cut_off_anywhere_is_an_error() {
    let text = r#"{"type":"record","name":"R","fields":[
        {"name":"a","type":"double"},{"name":"b","type":"float"},{"name":"c","type":"long"},{"name":"d","type":"string"},
        {"name":"e","type":{"type":"array","items":"int"}},{"name":"f","type":["null","boolean"]},
        {"name":"g","type":{"type":"fixed","name":"F","size":3}}]}"#;
    let schema = Schema::parse(text).unwrap();
    let fixed = schema.named_type("F").unwrap();
    let value = Value::Record(
        schema.root(),
        vec![
            Value::Double(1.5),
            Value::Float(2.5),
            Value::Long(1 << 40),
            Value::String("abc".into()),
            Value::Array(vec![Value::Int(1), Value::Int(300)]),
            Value::Boolean(true),
            Value::Fixed(fixed, vec![1, 2, 3]),
        ],
    );
    let mut bytes = Vec::new();
    schema.encode(&value, &mut bytes).unwrap();
    let plan = Plan::of(&schema);
    assert_eq!(plan.decode(&bytes), Ok(value));
    for end in 0..bytes.len() {
        assert!(plan.decode(&bytes[..end]).is_err(), "the first {end} bytes");
        assert!(plan.deserialize::<IgnoredAny>(&bytes[..end]).is_err(), "the first {end} bytes");
    }
}

#[test]
fn bytes_after_the_value_are_an_error_unless_more_is_expected() {
    let plan = plan("\"int\"");
    assert_eq!(error(&plan, &[2, 2, 2]), DecodeError::TrailingBytes { at: 1, left: 2 });
    assert_eq!(plan.deserialize::<i32>(&[2, 2]), Err(DecodeError::TrailingBytes { at: 1, left: 1 }));
    assert_eq!(plan.decode_first(&[2, 4]), Ok((Value::Int(1), 1)));
}

#[test]
fn a_block_may_say_its_size_and_may_not_lie_about_it() {
    let ints = plan(r#"{"type":"array","items":"int"}"#);
    let two = Value::Array(vec![Value::Int(1), Value::Int(2)]);
    // A negative count, and then how many bytes the items have.
    assert_eq!(ints.decode(&[3, 4, 2, 4, 0]), Ok(two.clone()));
    assert_eq!(ints.decode(&[1, 2, 2, 2, 4, 0]), Ok(two), "in two blocks");
    for bytes in [
        &[3, 3, 2, 4, 0][..],   // a negative size
        &[3, 100, 2, 4, 0],     // a size beyond the end
        &[3, 2, 2, 4, 0],       // more items than the size holds
        &[3, 6, 2, 4, 0, 0, 0], // fewer
    ] {
        assert!(matches!(error(&ints, bytes), DecodeError::InvalidBlock { .. }), "{bytes:?}");
    }
}

#[test]
fn counts_that_the_bytes_cannot_hold_are_errors_before_anything_is_kept() {
    for (ty, bytes_min) in [
        (r#"{"type":"array","items":"int"}"#, 1),
        (r#"{"type":"array","items":"double"}"#, 8),
        (r#"{"type":"map","values":"null"}"#, 1),
    ] {
        for count in [100, 1 << 31, i64::MAX, i64::MIN, -(1 << 40)] {
            let bytes = [long(count), long(4), vec![0; 4]].concat();
            let found = error(&plan(ty), &bytes);
            assert!(
                matches!(found, DecodeError::InvalidBlock { at: 0, .. }),
                "{ty} {count} {bytes_min}: {found}"
            );
        }
    }
}

#[test]
fn items_without_a_byte_of_their_own_are_counted() {
    let limit = i64::try_from(BYTELESS_ITEMS_MAX).unwrap();
    for items in
        ["\"null\"", r#"{"type":"record","name":"R","fields":[]}"#, r#"{"type":"fixed","name":"F","size":0}"#]
    {
        let array = format!(r#"{{"type":"array","items":{items}}}"#);
        let all = plan(&array);
        let skipped = evolved(
            &format!(r#"{{"type":"record","name":"S","fields":[{{"name":"a","type":{array}}}]}}"#),
            r#"{"type":"record","name":"S","fields":[]}"#,
        );
        for plan in [all, skipped] {
            assert!(plan.decode(&[long(limit), vec![0]].concat()).is_ok());
            for count in [limit + 1, i64::MAX] {
                let found = error(&plan, &[long(count), vec![0]].concat());
                assert!(matches!(found, DecodeError::TooLarge { at: 0, .. }), "{found}");
            }
            let twice = [long(limit), long(1), vec![0]].concat();
            assert!(matches!(error(&plan, &twice), DecodeError::TooLarge { .. }), "in two blocks");
        }
    }
}

#[test]
fn values_that_nest_without_end_are_errors() {
    let list = r#"{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}"#;
    let deep = |depth: usize| [vec![2; depth], vec![0]].concat();
    let plan = plan(list);
    assert!(plan.decode(&deep(VALUE_DEPTH_MAX - 1)).is_ok());
    let too_deep = |at| DecodeError::TooDeep { at, max: VALUE_DEPTH_MAX };
    assert_eq!(error(&plan, &deep(1_000_000)), too_deep(VALUE_DEPTH_MAX));
    assert_eq!(plan.deserialize::<IgnoredAny>(&deep(1_000_000)).map(|_| ()), Err(too_deep(VALUE_DEPTH_MAX)));
    // One that holds itself and nothing else takes no byte at all.
    let endless = Plan::of(
        &Schema::parse(r#"{"type":"record","name":"E","fields":[{"name":"e","type":"E"}]}"#).unwrap(),
    );
    assert_eq!(error(&endless, &[]), too_deep(0));
    // Nobody writes what nobody reads.
    let schema = Schema::parse(list).unwrap();
    let nested = |depth| (0..depth).fold(Value::Null, |inner, _| Value::Record(schema.root(), vec![inner]));
    assert!(schema.encode(&nested(VALUE_DEPTH_MAX), &mut Vec::new()).is_ok());
    assert!(schema.encode(&nested(VALUE_DEPTH_MAX + 1), &mut Vec::new()).is_err());
}

#[test]
fn branches_and_symbols_that_are_not_there_are_errors() {
    let union = plan(r#"["null","int"]"#);
    assert_eq!(error(&union, &[4, 0]), DecodeError::UnknownBranch { at: 0, index: 2 });
    assert_eq!(error(&union, &[1]), DecodeError::UnknownBranch { at: 0, index: -1 });
    let symbols = plan(r#"{"type":"enum","name":"E","symbols":["A"]}"#);
    assert_eq!(error(&symbols, &[2]), DecodeError::UnknownSymbol { at: 0, index: 1 });
    assert_eq!(error(&symbols, &long(i64::MIN)), DecodeError::UnknownSymbol { at: 0, index: i64::MIN });
}

#[test]
fn texts_and_booleans_and_numbers_that_are_none_are_errors() {
    assert_eq!(error(&plan("\"string\""), &[4, 0xff, 0xfe]), DecodeError::InvalidUtf8 { at: 0 });
    assert_eq!(error(&evolved("\"bytes\"", "\"string\""), &[2, 0xff]), DecodeError::InvalidUtf8 { at: 0 });
    assert_eq!(error(&plan("\"boolean\""), &[2]), DecodeError::InvalidBoolean { at: 0 });
    assert_eq!(error(&plan("\"int\""), &long(1 << 31)), DecodeError::InvalidNumber { at: 0 });
    assert_eq!(error(&plan("\"long\""), &[0x80; 11]), DecodeError::InvalidNumber { at: 0 });
}

#[test]
fn defaults_do_not_turn_few_bytes_into_many() {
    let text = "x".repeat(900_000);
    let reader = format!(
        r#"{{"type":"array","items":{{"type":"record","name":"R","fields":[
            {{"name":"a","type":"int"}},{{"name":"b","type":"string","default":"{text}"}}]}}}}"#
    );
    let writer =
        r#"{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}}"#;
    let plan = evolved(writer, &reader);
    let items = |count: usize| [long(i64::try_from(count).unwrap()), vec![0; count + 1]].concat();
    assert!(plan.decode(&items(10)).is_ok());
    assert!(matches!(error(&plan, &items(1_000)), DecodeError::TooLarge { .. }));
}

#[test]
fn a_default_that_would_double_at_every_step_is_no_value() {
    let mut fields = vec![r#"{"name":"r0","type":{"type":"record","name":"R0","fields":[]}}"#.to_owned()];
    for n in 1..40 {
        let inner = format!(r#""type":"R{}","default":{{}}"#, n - 1);
        fields.push(format!(
            r#"{{"name":"r{n}","type":{{"type":"record","name":"R{n}","fields":[{{"name":"a",{inner}}},{{"name":"b",{inner}}}]}},
                "default":{{}}}}"#
        ));
    }
    let reader = format!(r#"{{"type":"record","name":"All","fields":[{}]}}"#, fields.join(","));
    let reader = reader.replace(r#""fields":[]}}"#, r#""fields":[]},"default":{}}"#);
    let plan = evolved(r#"{"type":"record","name":"All","fields":[]}"#, &reader);
    assert!(plan.unreadable()[0].contains("too many values"), "{:?}", plan.unreadable());
    assert!(matches!(error(&plan, &[]), DecodeError::Unreadable { at: 0, .. }));
}
