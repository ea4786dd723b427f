//! Types that serialise and deserialise, beside values.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use waybill_avro_evolution::{DecodeError, EncodeProblem, Plan, Schema, Value};

fn parse(text: &str) -> Schema {
    Schema::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn bytes<T: Serialize>(schema: &Schema, value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    schema.serialize(value, &mut bytes).unwrap_or_else(|error| panic!("{error}"));
    bytes
}

fn problem<T: Serialize>(schema: &Schema, value: &T) -> String {
    schema.serialize(value, &mut Vec::new()).expect_err("it is no value of the schema").to_string()
}

const ORDER: &str = r#"{"type":"record","name":"Order","namespace":"shop","fields":[
    {"name":"id","type":"string"},
    {"name":"total","type":"long"},
    {"name":"rate","type":"double"},
    {"name":"paid","type":"boolean"},
    {"name":"state","type":{"type":"enum","name":"State","symbols":["Open","Done"]}},
    {"name":"key","type":{"type":"fixed","name":"Key","size":2}},
    {"name":"note","type":["null","string"],"default":null},
    {"name":"previous","type":["null","State"],"default":null},
    {"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
        {"name":"sku","type":"string"},{"name":"count","type":"int"}]}}},
    {"name":"tags","type":{"type":"map","values":"string"}},
    {"name":"how","type":["null","Line",{"type":"record","name":"Card","fields":[{"name":"digits","type":"string"}]},"long"],
     "default":null},
    {"name":"raw","type":"bytes","default":""}]}"#;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum State {
    Open,
    Done,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    sku: String,
    count: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum How {
    Line(Line),
    Card {
        digits: String,
    },
    #[serde(rename = "long")]
    Number(i64),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: String,
    total: u32,
    rate: f64,
    paid: bool,
    state: State,
    key: [u8; 2],
    note: Option<String>,
    previous: Option<State>,
    lines: Vec<Line>,
    tags: BTreeMap<String, String>,
    how: Option<How>,
    raw: Vec<u8>,
}

fn order() -> Order {
    Order {
        id: "o-1".into(),
        total: 12_345,
        rate: 0.25,
        paid: true,
        state: State::Done,
        key: [1, 255],
        note: Some("überall".into()),
        previous: Some(State::Open),
        lines: vec![Line { sku: "a".into(), count: 2 }, Line { sku: "b".into(), count: -1 }],
        tags: BTreeMap::from([("x".into(), "1".into()), ("y".into(), "2".into())]),
        how: Some(How::Card { digits: "4242".into() }),
        raw: vec![0, 128, 255],
    }
}

#[test]
fn a_struct_comes_back_as_it_went() {
    let schema = parse(ORDER);
    let plan = Plan::of(&schema);
    let variants = [
        None,
        Some(How::Line(Line { sku: "s".into(), count: 0 })),
        Some(How::Card { digits: String::new() }),
        Some(How::Number(-1)),
    ];
    for how in variants {
        let order = Order { how, note: None, previous: None, ..order() };
        assert_eq!(plan.deserialize::<Order>(&bytes(&schema, &order)), Ok(order));
    }
    assert_eq!(plan.deserialize::<Order>(&bytes(&schema, &order())), Ok(order()));
}

#[test]
fn a_struct_and_a_value_have_the_same_bytes() {
    let schema = parse(ORDER);
    let written = bytes(&schema, &order());
    let value = Plan::of(&schema).decode(&written).unwrap();
    let mut again = Vec::new();
    schema.encode(&value, &mut again).unwrap();
    assert_eq!(again, written);
    let Value::Record(_, fields) = value else { panic!("a record") };
    assert_eq!(fields[1], Value::Long(12_345));
}

#[test]
fn texts_are_borrowed_from_the_bytes_and_from_defaults() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Borrowed<'b> {
        id: &'b str,
        kind: &'b str,
    }
    let writer = parse(r#"{"type":"record","name":"R","fields":[{"name":"id","type":"string"}]}"#);
    let reader = parse(
        r#"{"type":"record","name":"R","fields":[{"name":"id","type":"string"},{"name":"kind","type":"string","default":"k"}]}"#,
    );
    let plan = Plan::new(&writer, &reader);
    assert_eq!(plan.deserialize(&[4, b'a', b'b']), Ok(Borrowed { id: "ab", kind: "k" }));
}

#[test]
fn fields_may_come_in_any_order_and_absent_ones_are_defaults() {
    #[derive(Serialize)]
    struct Other {
        raw: &'static str,
        paid: bool,
    }
    let schema = parse(
        r#"{"type":"record","name":"R","fields":[{"name":"paid","type":"boolean"},
            {"name":"n","type":["int","null"],"default":7},{"name":"raw","type":"string"}]}"#,
    );
    assert_eq!(bytes(&schema, &Other { raw: "x", paid: true }), [1, 0, 14, 2, b'x']);
    let by_key = HashMap::from([("raw", "x")]);
    assert_eq!(
        problem(&schema, &by_key),
        "the field paid is missing, and has no default that could stand for it"
    );
}

#[test]
fn what_does_not_fit_is_said_with_its_place() {
    #[derive(Serialize)]
    struct Wrong {
        lines: Vec<Line>,
    }
    let lines = |text: &str| parse(&format!(r#"{{"type":"record","name":"R","fields":[{text}]}}"#));
    let schema = lines(
        r#"{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
            {"name":"sku","type":"string"},{"name":"count","type":"string"}]}}}"#,
    );
    let wrong = Wrong { lines: vec![Line { sku: "a".into(), count: 1 }] };
    assert_eq!(problem(&schema, &wrong), "/lines/0/count: an integer is no string");
    assert_eq!(problem(&lines(""), &wrong), "the schema's record has no field lines");
    for (text, value, said) in [
        ("\"int\"", i64::MAX, "9223372036854775807 does not fit an int"),
        (r#"["string","null"]"#, 1, "an integer is no branch of the union of string, null"),
        ("\"double\"", 1, "an integer is no double"),
    ] {
        assert_eq!(problem(&parse(text), &value), said);
    }
    let symbols = parse(r#"{"type":"enum","name":"E","symbols":["Open"]}"#);
    assert_eq!(problem(&symbols, &State::Done), "Done is no symbol of E");
    assert_eq!(
        problem(&parse(r#"{"type":"fixed","name":"F","size":3}"#), &[1_u8, 2]),
        "there are 2 of them, and not 3"
    );
    let error = symbols.serialize(&State::Done, &mut Vec::new()).unwrap_err();
    assert!(matches!(error.problem(), EncodeProblem::UnknownSymbol { .. }));
}

#[test]
fn a_struct_that_may_be_two_branches_has_to_say_which() {
    #[derive(Serialize)]
    struct Neither {
        a: i32,
    }
    let record =
        |name: &str| format!(r#"{{"type":"record","name":"{name}","fields":[{{"name":"a","type":"int"}}]}}"#);
    let two = parse(&format!("[{},{}]", record("A"), record("B")));
    assert_eq!(
        problem(&two, &Neither { a: 1 }),
        "a struct may be several branches of the union of A, B: name the one that is meant"
    );
    let one = parse(&format!("[\"null\",{}]", record("A")));
    assert_eq!(bytes(&one, &Neither { a: 1 }), [2, 2]);
}

#[test]
fn a_type_that_refuses_a_value_says_where() {
    let plan = Plan::of(&parse(ORDER));
    let written = bytes(plan.reader(), &order());
    #[derive(Debug, Deserialize)]
    struct Small {
        #[expect(dead_code, reason = "only whether it deserialises is asked")]
        total: u8,
    }
    let Err(DecodeError::Refused { at, why }) = plan.deserialize::<Small>(&written) else {
        panic!("refused")
    };
    assert_eq!(at, 4);
    assert!(why.contains("12345"), "{why}");
    let missing = Plan::of(&parse(r#"{"type":"record","name":"R","fields":[]}"#));
    let Err(DecodeError::Refused { why, .. }) = missing.deserialize::<Small>(&[]) else { panic!("refused") };
    assert_eq!(&*why, "missing field `total`");
}
