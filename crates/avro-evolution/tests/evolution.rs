//! What a reader makes of a writer's value, rule by rule (Avro 1.12.0, "Schema Resolution").

use waybill_avro_evolution::{DecodeError, Kind, Plan, Schema, Value};

fn parse(text: &str) -> Schema {
    Schema::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A value of the writer's schema, as the reader has it.
fn read(writer: &str, reader: &str, value: impl Fn(&Schema) -> Value) -> Result<Value, DecodeError> {
    let (writer, reader) = (parse(writer), parse(reader));
    let mut bytes = Vec::new();
    writer.encode(&value(&writer), &mut bytes).expect("a value of its schema");
    Plan::new(&writer, &reader).decode(&bytes)
}

fn record(fields: &str) -> String {
    format!(r#"{{"type":"record","name":"R","fields":[{fields}]}}"#)
}

fn fields(values: Vec<Value>) -> impl Fn(&Schema) -> Value {
    move |schema| Value::Record(schema.root(), values.clone())
}

fn values(read: Result<Value, DecodeError>) -> Vec<Value> {
    let Ok(Value::Record(_, values)) = read else { panic!("a record, and not {read:?}") };
    values
}

#[test]
fn numbers_and_texts_are_promoted() {
    for (writer, reader, from, to) in [
        ("int", "long", Value::Int(-7), Value::Long(-7)),
        ("int", "float", Value::Int(16_777_217), Value::Float(16_777_216.0)),
        ("int", "double", Value::Int(i32::MAX), Value::Double(f64::from(i32::MAX))),
        ("long", "float", Value::Long(i64::MAX), Value::Float(9.223_372e18)),
        ("long", "double", Value::Long((1 << 53) + 1), Value::Double(9_007_199_254_740_992.0)),
        ("float", "double", Value::Float(0.1), Value::Double(0.100_000_001_490_116_12)),
        ("string", "bytes", Value::String("é".into()), Value::Bytes(vec![0xc3, 0xa9])),
        ("bytes", "string", Value::Bytes(vec![0xc3, 0xa9]), Value::String("é".into())),
    ] {
        let found = read(&format!("\"{writer}\""), &format!("\"{reader}\""), |_| from.clone());
        assert_eq!(found, Ok(to), "{writer} as {reader}");
    }
}

#[test]
fn fields_are_found_by_name_and_alias_skipped_and_filled_with_defaults() {
    let writer = record(
        r#"{"name":"gone","type":{"type":"map","values":{"type":"array","items":["null","string"]}}},
           {"name":"old","type":"int"},{"name":"b","type":"string"}"#,
    );
    let reader = record(
        r#"{"name":"b","type":"string"},{"name":"new","type":"long","aliases":["old"]},
           {"name":"list","type":{"type":"array","items":"int"},"default":[1,2]},
           {"name":"maybe","type":["null","string"],"default":null}"#,
    );
    let gone = Value::Map(vec![("k".into(), Value::Array(vec![Value::Null, Value::String("x".into())]))]);
    let found = read(&writer, &reader, fields(vec![gone, Value::Int(5), Value::String("t".into())]));
    let list = Value::Array(vec![Value::Int(1), Value::Int(2)]);
    assert_eq!(values(found), [Value::String("t".into()), Value::Long(5), list, Value::Null]);
}

#[test]
fn a_skipped_block_is_passed_over_by_its_size() {
    let writer = parse(&record(
        r#"{"name":"gone","type":{"type":"array","items":"string"}},{"name":"a","type":"int"}"#,
    ));
    let reader = parse(&record(r#"{"name":"a","type":"int"}"#));
    // Two items in four bytes that nobody looks at: they are no texts at all.
    let bytes = [3, 8, 0xff, 0xff, 0xff, 0xff, 0, 10];
    assert_eq!(values(Plan::new(&writer, &reader).decode(&bytes)), [Value::Int(5)]);
}

#[test]
fn branches_are_found_in_another_order_and_with_promotion() {
    let value = |value: Value| move |_: &Schema| value.clone();
    let (writer, reader) = (r#"["null","int","string"]"#, r#"["string","long","null"]"#);
    assert_eq!(read(writer, reader, value(Value::Int(3))), Ok(Value::Long(3)));
    assert_eq!(read(writer, reader, value(Value::Null)), Ok(Value::Null));
    assert_eq!(read("\"int\"", reader, value(Value::Int(3))), Ok(Value::Long(3)), "one that was no union");
    assert_eq!(
        read(r#"["int","string"]"#, "\"int\"", value(Value::Int(3))),
        Ok(Value::Int(3)),
        "one that is none"
    );
    let refused = read(r#"["int","string"]"#, "\"int\"", value(Value::String("x".into())));
    assert!(matches!(refused, Err(DecodeError::Unreadable { at: 1, .. })), "{refused:?}");
}

#[test]
fn an_unknown_symbol_is_the_readers_default() {
    let writer = r#"{"type":"enum","name":"E","symbols":["A","B","C"]}"#;
    let symbol = |place: u32| move |schema: &Schema| Value::Enum(schema.root(), place);
    let place = |read: Result<Value, DecodeError>| match read {
        Ok(Value::Enum(_, place)) => Ok(place),
        other => Err(other),
    };
    let with_default = r#"{"type":"enum","name":"E","symbols":["C","X","A"],"default":"X"}"#;
    assert_eq!(place(read(writer, with_default, symbol(0))), Ok(2));
    assert_eq!(place(read(writer, with_default, symbol(1))), Ok(1), "the default");
    assert_eq!(place(read(writer, with_default, symbol(2))), Ok(0));
    let without = r#"{"type":"enum","name":"E","symbols":["A","C"]}"#;
    assert_eq!(place(read(writer, without, symbol(2))), Ok(1));
    let refused = read(writer, without, symbol(1));
    assert!(matches!(refused, Err(DecodeError::Unreadable { .. })), "{refused:?}");
}

#[test]
fn a_type_that_holds_itself_is_read_with_a_reader_that_does() {
    let writer = record(r#"{"name":"v","type":"int"},{"name":"next","type":["null","R"]}"#);
    let reader = record(r#"{"name":"next","type":["null","R"],"default":null},{"name":"v","type":"double"}"#);
    let nested = |schema: &Schema| {
        let inner = Value::Record(schema.root(), vec![Value::Int(2), Value::Null]);
        Value::Record(schema.root(), vec![Value::Int(1), inner])
    };
    let found = values(read(&writer, &reader, nested));
    let Value::Record(_, inner) = &found[0] else { panic!("a record") };
    assert_eq!((&found[1], inner.as_slice()), (&Value::Double(1.0), &[Value::Null, Value::Double(2.0)][..]));
}

#[test]
fn a_named_type_is_found_under_an_alias() {
    let writer = r#"{"type":"record","name":"old.R","fields":[{"name":"f","type":["null",{"type":"fixed","name":"K","size":2}]}]}"#;
    let reader = r#"{"type":"record","name":"new.S","aliases":["old.R"],"fields":[
        {"name":"f","type":["null",{"type":"fixed","name":"L","aliases":["old.K"],"size":2}]}]}"#;
    let value = |schema: &Schema| {
        let fixed = schema.named_type("old.K").expect("it is there");
        Value::Record(schema.root(), vec![Value::Fixed(fixed, vec![7, 8])])
    };
    let (writer_schema, reader_schema) = (parse(writer), parse(reader));
    let found = values(read(writer, reader, value));
    let Value::Fixed(of, bytes) = &found[0] else { panic!("a fixed value") };
    assert_eq!((reader_schema[*of].full_name(), bytes.as_slice()), ("new.L", &[7, 8][..]));
    assert!(Plan::new(&writer_schema, &reader_schema).unreadable().is_empty());
}

#[test]
fn what_a_reader_has_no_place_for_is_said_before_it_comes() {
    let writer =
        parse(&record(r#"{"name":"a","type":["int","string",{"type":"enum","name":"E","symbols":["X"]}]}"#));
    let reader = parse(&record(r#"{"name":"a","type":["long",{"type":"enum","name":"E","symbols":["Y"]}]}"#));
    let plan = Plan::new(&writer, &reader);
    assert_eq!(plan.unreadable(), ["no branch of its union reads the writer's string"]);
    let missing = Plan::new(&parse(&record("")), &reader);
    assert_eq!(
        missing.unreadable(),
        ["the writer's R has no field a for the reader's R, and no default stands for it"]
    );
}

#[test]
fn a_default_of_a_union_is_of_the_first_branch_that_it_fits() {
    let reader = record(
        r#"{"name":"a","type":[{"type":"record","name":"S","fields":[]},"null"],"default":null},
           {"name":"b","type":[{"type":"array","items":"int"},"string"],"default":"x"},
           {"name":"c","type":[{"type":"enum","name":"E","symbols":["A"]},"string"],"default":"B"},
           {"name":"d","type":{"type":"fixed","name":"F","size":3},"default":"\u00ffa"},
           {"name":"e","type":"float","default":"-Infinity"},
           {"name":"f","type":"bytes","default":"a\u20ac"}"#,
    );
    let found = values(read(&record(""), &reader, fields(Vec::new())));
    assert_eq!(found[..3], [Value::Null, Value::String("x".into()), Value::String("B".into())]);
    assert!(matches!(&found[3], Value::Fixed(_, bytes) if *bytes == [0xff, b'a', 0]));
    assert_eq!(found[4..], [Value::Float(f32::NEG_INFINITY), Value::Bytes(vec![b'a', b'?'])]);
}

#[test]
fn a_reader_with_the_writers_schema_takes_everything_as_it_is() {
    // Its aliases would rename one field to the other.
    let text = record(r#"{"name":"a","type":"int","aliases":["b"]},{"name":"b","type":"int"}"#);
    let found = values(read(&text, &text, fields(vec![Value::Int(1), Value::Int(2)])));
    assert_eq!(found, [Value::Int(1), Value::Int(2)]);
    let schema = parse(&text);
    assert!(matches!(&schema[schema.root()].kind, Kind::Record(record) if record.fields.len() == 2));
}
