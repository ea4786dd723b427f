//! What is read from a schema's text, and what an error says to whoever wrote it.

use waybill_avro_evolution::{
    Docs, JSON_DEPTH_MAX, Kind, LogicalType, Name, Schema, SchemaProblem, TYPE_DEPTH_MAX,
};

fn parse(text: &str) -> Schema {
    Schema::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn refused(text: &str) -> String {
    Schema::parse(text).expect_err(text).to_string()
}

const ORDER: &str = r#"{
  "type": "record", "name": "Order", "namespace": "shop", "doc": "What was bought.", "owner": "team-a",
  "aliases": ["Purchase", "old.Order"],
  "fields": [
    {"name": "id", "type": {"type": "string", "logicalType": "uuid"}, "doc": "Never changes.", "pii": false},
    {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
    {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["OPEN", "PAID"], "default": "OPEN"}},
    {"name": "next", "type": ["null", "Order"], "default": null, "order": "ignore", "aliases": ["follower"]},
    {"name": "history", "type": {"type": "array", "items": "State"}, "default": []}
  ]
}"#;

#[test]
fn everything_that_an_author_said_is_kept() {
    let schema = parse(ORDER);
    let Kind::Record(order) = &schema[schema.root()].kind else { panic!("a record") };
    assert_eq!((order.name.full(), order.name.short()), ("shop.Order", "Order"));
    let aliases: Vec<&str> = order.aliases.iter().map(Name::full).collect();
    assert_eq!(aliases, ["shop.Purchase", "old.Order"]);
    assert_eq!(order.doc.as_deref(), Some("What was bought."));
    assert_eq!(schema[schema.root()].property("owner").unwrap().as_str(), Some("team-a"));
    let (place, total) = order.field("total").unwrap();
    assert_eq!(place, 1);
    assert_eq!(schema[total.ty].logical, Some(LogicalType::Decimal { precision: 12, scale: 2 }));
    let (_, next) = order.field("next").unwrap();
    let Kind::Union(branches) = &schema[next.ty].kind else { panic!("a union") };
    assert_eq!(branches[1], schema.root(), "a name is the type that it means");
    assert_eq!((next.order.as_str(), next.aliases.as_slice()), ("ignore", &["follower".to_owned()][..]));
    let names: Vec<&str> = schema.named_types().map(|id| schema[id].full_name()).collect();
    assert_eq!(names, ["shop.State", "shop.Order"]);
}

#[test]
fn an_invalid_logical_type_is_ignored_and_its_attributes_stay() {
    let schema = parse(r#"{"type": "string", "logicalType": "date", "precision": 3}"#);
    let root = &schema[schema.root()];
    assert_eq!(root.logical, None);
    assert_eq!(root.property("logicalType").unwrap().as_str(), Some("date"));
}

#[test]
fn white_space_and_the_order_of_attributes_make_no_difference_to_the_normal_form() {
    let one = parse(ORDER);
    let two = parse(
        r#"{"fields":[
            {"pii":false,"type":{"logicalType":"uuid","type":"string"},"name":"id"},
            {"type":{"scale":2,"precision":12,"logicalType":"decimal","type":"bytes"},"name":"total"},
            {"type":{"default":"OPEN","symbols":["OPEN","PAID"],"name":"shop.State","type":"enum"},"name":"state"},
            {"aliases":["follower"],"order":"IGNORE","default":null,"type":["null","shop.Order"],"name":"next"},
            {"default":[],"type":{"items":"shop.State","type":"array"},"name":"history","order":"ascending"}],
            "owner":"team-a","aliases":["shop.Purchase","old.Order"],"name":"shop.Order","type":"record"}"#,
    );
    assert_eq!(one.normalize(Docs::Dropped), two.normalize(Docs::Dropped));
    assert_ne!(one.normalize(Docs::Kept), two.normalize(Docs::Kept), "the docs differ");
    assert_eq!(parse(&one.normalize(Docs::Kept)).to_json(), one.to_json());
}

#[test]
fn a_schema_may_refer_to_what_others_define() {
    let state = parse(r#"{"type":"enum","name":"shop.State","symbols":["OPEN","PAID"]}"#);
    let line = Schema::parse_with(
        r#"{"type":"record","name":"shop.Line","fields":[{"name":"state","type":"State"}]}"#,
        std::slice::from_ref(&state),
    )
    .unwrap();
    let order = Schema::parse_with(
        r#"{"type":"record","name":"shop.Order","fields":[
            {"name":"lines","type":{"type":"array","items":"shop.Line"}},{"name":"state","type":"State"}]}"#,
        &[state.clone(), line.clone()],
    )
    .unwrap();
    // Alone it is complete: what it refers to is in its text.
    assert_eq!(parse(&order.to_json()).canonical_form(), order.canonical_form());
    let missing = Schema::parse(&line.to_json().replace("shop.State", "shop.Gone")).map(|_| ());
    assert_eq!(missing, Ok(()), "it holds the definition under whatever name");
    let error = Schema::parse_with(r#"{"type":"array","items":"shop.Gone"}"#, &[state]).unwrap_err();
    assert_eq!(error.path(), "/items");
    assert!(matches!(error.problem(), SchemaProblem::Undefined { name } if name == "shop.Gone"));
}

#[test]
fn references_that_define_a_name_differently_are_refused() {
    let one = parse(r#"{"type":"fixed","name":"Key","size":8}"#);
    let two = parse(r#"{"type":"array","items":{"type":"fixed","name":"Key","size":16}}"#);
    assert!(Schema::parse_with("\"Key\"", &[one.clone(), one.clone()]).is_ok());
    let error = Schema::parse_with("\"Key\"", &[one, two]).unwrap_err();
    assert!(matches!(error.problem(), SchemaProblem::Redefined { name } if name == "Key"));
}

#[test]
fn an_error_says_where_and_what_and_what_to_do() {
    for (text, said) in [
        (
            "{\"type\": \"record\"",
            "the text is no JSON: line 1, column 18: neither a comma nor the end of the object",
        ),
        (
            r#"{"type":"record","name":"R","fields":[{"name":"a","type":"Missing"}]}"#,
            "/fields/0/type: nothing defines Missing: define it here, write its full name, or add the schema that does as a \
             reference",
        ),
        (
            r#"{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"],"default":"x"}]}"#,
            "/fields/0: the default \"x\" of the field a is no value of any of null, int: write one that is, or leave it out",
        ),
        (
            r#"{"type":"array","items":{"type":"enum","name":"E","symbols":["A"],"default":"B"}}"#,
            "/items: the enum's default B is none of its symbols: add it to them, or choose one of them",
        ),
        (
            r#"{"type":"map","values":["int",{"type":"int"}]}"#,
            "/values/1: the union has two branches int: remove one (named types differ by full name, others by kind)",
        ),
        (
            r#"{"type":"record","name":"R","fields":[{"name":"a-b","type":"int"}]}"#,
            "/fields/0: \"a-b\" is no name: it begins with a letter or an underscore, and letters, digits and underscores follow",
        ),
        (
            r#"{"type":"record","name":"R","fields":[{"name":"a","type":"S","default":"A"},
                {"name":"b","type":{"type":"enum","name":"S","symbols":["A"]}}]}"#,
            "/fields/0: the default \"A\" of the field a is no record (its type is defined further down: define it before): \
             write one that is, or leave it out",
        ),
    ] {
        assert_eq!(refused(text), said);
    }
}

#[test]
fn a_text_that_nests_without_end_is_refused() {
    let depth = JSON_DEPTH_MAX / 2;
    let nested =
        |depth: usize| format!("{}\"int\"{}", r#"{"type":"array","items":"#.repeat(depth), "}".repeat(depth));
    assert!(Schema::parse(&nested(depth)).is_ok());
    assert!(refused(&nested(100_000)).contains("256 arrays and objects"));
}

#[test]
fn types_that_lead_to_one_another_without_end_are_refused() {
    // Each names the next one, which is defined further down: written out, each lies in the one before.
    let chain = |length: usize| {
        let link = |n: usize| {
            format!(r#"{{"type":"record","name":"R{n}","fields":[{{"name":"next","type":"R{}"}}]}}"#, n + 1)
        };
        let mut links: Vec<String> = (0..length).map(link).collect();
        links.push(format!(r#"{{"type":"record","name":"R{length}","fields":[]}}"#));
        format!("[{}]", links.join(","))
    };
    assert!(Schema::parse(&chain(TYPE_DEPTH_MAX - 10)).is_ok());
    assert!(refused(&chain(20_000)).contains("nested more than 512 deep"));
}

#[test]
fn a_schema_of_a_megabyte_is_read_and_written() {
    let field = |n: usize| {
        format!(
            r#"{{"name":"field_{n}","type":["null",{{"type":"record","name":"R{n}","fields":[
                {{"name":"a","type":"string","doc":"What there is to say about it, at some length."}},
                {{"name":"b","type":{{"type":"map","values":"R{}"}}}}]}}],"default":null}}"#,
            n.saturating_sub(1)
        )
    };
    let fields: Vec<String> = (0..4_500).map(field).collect();
    let text = format!(r#"{{"type":"record","name":"Large","fields":[{}]}}"#, fields.join(","));
    assert!(text.len() > 1_000_000);
    let schema = parse(&text);
    assert_eq!(parse(&schema.normalize(Docs::Kept)).canonical_form(), schema.canonical_form());
}

#[test]
fn a_default_that_many_branches_might_take_is_judged_once() {
    let depth = 60;
    let value = format!("{}7{}", r#"{"x":"#.repeat(depth), "}".repeat(depth));
    let text = format!(
        r#"{{"type":"record","name":"R","fields":[
            {{"name":"a","type":{{"type":"record","name":"A","fields":[{{"name":"x","type":["null","A","B"],"default":null}}]}}}},
            {{"name":"b","type":{{"type":"record","name":"B","fields":[{{"name":"x","type":["null","A","B"],"default":null}}]}}}},
            {{"name":"c","type":["A","B"],"default":{value}}}]}}"#
    );
    assert!(refused(&text).starts_with("/fields/2: the default"), "{}", refused(&text));
}
