//! The cases by which Avro's Java library tests its own decision, as facts: schemas by the names that its tests give them, and
//! for each pair what is wrong with it.

/// A record that the published cases call `Record1`, with these fields.
macro_rules! record1 {
    ($fields:literal) => {
        concat!(r#"{"type":"record","name":"Record1","fields":["#, $fields, "]}")
    };
}

/// Every schema of the published cases.
pub(crate) const SCHEMAS: [(&str, &str); 70] = [
    ("NULL", "\"null\""),
    ("BOOLEAN", "\"boolean\""),
    ("INT", "\"int\""),
    ("LONG", "\"long\""),
    ("FLOAT", "\"float\""),
    ("DOUBLE", "\"double\""),
    ("STRING", "\"string\""),
    ("BYTES", "\"bytes\""),
    ("INT_ARRAY", r#"{"type":"array","items":"int"}"#),
    ("LONG_ARRAY", r#"{"type":"array","items":"long"}"#),
    ("STRING_ARRAY", r#"{"type":"array","items":"string"}"#),
    ("INT_MAP", r#"{"type":"map","values":"int"}"#),
    ("LONG_MAP", r#"{"type":"map","values":"long"}"#),
    ("STRING_MAP", r#"{"type":"map","values":"string"}"#),
    ("ENUM1_AB", r#"{"type":"enum","name":"Enum1","symbols":["A","B"]}"#),
    ("ENUM1_ABC", r#"{"type":"enum","name":"Enum1","symbols":["A","B","C"]}"#),
    ("ENUM1_BC", r#"{"type":"enum","name":"Enum1","symbols":["B","C"]}"#),
    ("ENUM2_AB", r#"{"type":"enum","name":"Enum2","symbols":["A","B"]}"#),
    ("ENUM1_AB_DEFAULT_A", r#"{"type":"enum","name":"Enum1","symbols":["A","B"],"default":"A"}"#),
    ("ENUM1_ABC_DEFAULT_A", r#"{"type":"enum","name":"Enum1","symbols":["A","B","C"],"default":"A"}"#),
    ("EMPTY_UNION", "[]"),
    ("NULL_UNION", r#"["null"]"#),
    ("INT_UNION", r#"["int"]"#),
    ("LONG_UNION", r#"["long"]"#),
    ("FLOAT_UNION", r#"["float"]"#),
    ("DOUBLE_UNION", r#"["double"]"#),
    ("STRING_UNION", r#"["string"]"#),
    ("BYTES_UNION", r#"["bytes"]"#),
    ("INT_STRING_UNION", r#"["int","string"]"#),
    ("STRING_INT_UNION", r#"["string","int"]"#),
    ("INT_FLOAT_UNION", r#"["int","float"]"#),
    ("INT_LONG_UNION", r#"["int","long"]"#),
    ("INT_LONG_FLOAT_DOUBLE_UNION", r#"["int","long","float","double"]"#),
    ("NULL_INT_ARRAY_UNION", r#"["null",{"type":"array","items":"int"}]"#),
    ("NULL_INT_MAP_UNION", r#"["null",{"type":"map","values":"int"}]"#),
    ("EMPTY_RECORD1", record1!("")),
    ("EMPTY_RECORD2", r#"{"type":"record","name":"Record2","fields":[]}"#),
    ("A_INT_RECORD1", record1!(r#"{"name":"a","type":"int"}"#)),
    ("A_LONG_RECORD1", record1!(r#"{"name":"a","type":"long"}"#)),
    ("A_INT_B_INT_RECORD1", record1!(r#"{"name":"a","type":"int"},{"name":"b","type":"int"}"#)),
    ("A_DINT_RECORD1", record1!(r#"{"name":"a","type":"int","default":0}"#)),
    ("A_INT_B_DINT_RECORD1", record1!(r#"{"name":"a","type":"int"},{"name":"b","type":"int","default":0}"#)),
    (
        "A_DINT_B_DINT_RECORD1",
        record1!(r#"{"name":"a","type":"int","default":0},{"name":"b","type":"int","default":0}"#),
    ),
    (
        "A_DINT_B_DFIXED_4_BYTES_RECORD1",
        record1!(
            r#"{"name":"a","type":"int","default":0},
               {"name":"b","type":{"type":"fixed","name":"Fixed","size":4},"default":""}"#
        ),
    ),
    (
        "A_DINT_B_DFIXED_8_BYTES_RECORD1",
        record1!(
            r#"{"name":"a","type":"int","default":0},
               {"name":"b","type":{"type":"fixed","name":"Fixed","size":8},"default":""}"#
        ),
    ),
    (
        "A_DINT_B_DINT_STRING_UNION_RECORD1",
        record1!(r#"{"name":"a","type":"int","default":0},{"name":"b","type":["int","string"],"default":0}"#),
    ),
    (
        "A_DINT_B_DINT_UNION_RECORD1",
        record1!(r#"{"name":"a","type":"int","default":0},{"name":"b","type":["int"],"default":0}"#),
    ),
    (
        "A_DINT_B_DENUM_1_RECORD1",
        record1!(
            r#"{"name":"a","type":"int","default":0},
               {"name":"b","type":{"type":"enum","name":"Enum1","symbols":["A","B"]},"default":"A"}"#
        ),
    ),
    (
        "A_DINT_B_DENUM_2_RECORD1",
        record1!(
            r#"{"name":"a","type":"int","default":0},
               {"name":"b","type":{"type":"enum","name":"Enum2","symbols":["A","B"]},"default":"A"}"#
        ),
    ),
    (
        "ENUM_AB_ENUM_DEFAULT_A_RECORD",
        r#"{"type":"record","name":"Record","fields":[{"name":"Field","type":
            {"type":"enum","name":"Schema","symbols":["A","B"],"default":"A"}}]}"#,
    ),
    (
        "ENUM_ABC_ENUM_DEFAULT_A_RECORD",
        r#"{"type":"record","name":"Record","fields":[{"name":"Field","type":
            {"type":"enum","name":"Schema","symbols":["A","B","C"],"default":"A"}}]}"#,
    ),
    (
        "ENUM_AB_FIELD_DEFAULT_A_ENUM_DEFAULT_B_RECORD",
        r#"{"type":"record","name":"Record","fields":[{"name":"Field","type":
            {"type":"enum","name":"Schema","symbols":["A","B"],"default":"B"},"default":"A"}]}"#,
    ),
    (
        "ENUM_ABC_FIELD_DEFAULT_B_ENUM_DEFAULT_A_RECORD",
        r#"{"type":"record","name":"Record","fields":[{"name":"Field","type":
            {"type":"enum","name":"Schema","symbols":["A","B","C"],"default":"A"},"default":"B"}]}"#,
    ),
    ("EMPTY_RECORD", r#"{"type":"record","name":"Record","fields":[]}"#),
    ("FIXED_4_BYTES", r#"{"type":"fixed","name":"Fixed","size":4}"#),
    ("FIXED_8_BYTES", r#"{"type":"fixed","name":"Fixed","size":8}"#),
    ("FIXED_4_ANOTHER_NAME", r#"{"type":"fixed","name":"AnotherName","size":4}"#),
    ("FIXED_4_NAMESPACE_V1", r#"{"type":"fixed","name":"Fixed","namespace":"org.example.v_1","size":4}"#),
    ("FIXED_4_NAMESPACE_V2", r#"{"type":"fixed","name":"Fixed","namespace":"org.example.v_2","size":4}"#),
    ("INT_LIST_RECORD", LIST_OF_INT),
    ("LONG_LIST_RECORD", LIST_OF_LONG),
    ("RECORD1_WITH_INT", record1!(r#"{"name":"field1","type":"int"}"#)),
    ("RECORD2_WITH_INT", r#"{"type":"record","name":"Record2","fields":[{"name":"field1","type":"int"}]}"#),
    ("UNION_INT_RECORD1", UNION_OF_INT_AND_RECORD1),
    ("UNION_INT_RECORD2", UNION_OF_INT_AND_RECORD2),
    ("NS_RECORD1", NESTED_IN_NAMESPACE_1),
    ("NS_RECORD2", NESTED_IN_NAMESPACE_2),
    (
        "READER_WITH_TWO_FIELDS",
        r#"{"type":"record","name":"R","fields":[
        {"name":"oldField1","type":"int"},{"name":"newField1","type":"string"}]}"#,
    ),
    (
        "WRITER_WITH_TWO_FIELDS",
        r#"{"type":"record","name":"R","fields":[
        {"name":"oldField1","type":"int"},{"name":"oldField2","type":"string"}]}"#,
    ),
    (
        "READER_WITH_DEFAULT",
        r#"{"type":"record","name":"R","fields":[
        {"name":"oldField1","type":"int"},{"name":"newField1","type":"int","default":42}]}"#,
    ),
];

const LIST_OF_INT: &str = r#"{"type":"record","name":"List","fields":[
    {"name":"head","type":"int"},{"name":"tail","type":"List"}]}"#;
const LIST_OF_LONG: &str = r#"{"type":"record","name":"List","fields":[
    {"name":"head","type":"long"},{"name":"tail","type":"List"}]}"#;
const UNION_OF_INT_AND_RECORD1: &str =
    r#"["int",{"type":"record","name":"Record1","fields":[{"name":"field1","type":"int"}]}]"#;
const UNION_OF_INT_AND_RECORD2: &str =
    r#"["int",{"type":"record","name":"Record2","fields":[{"name":"field1","type":"int"}]}]"#;
const NESTED_IN_NAMESPACE_1: &str = r#"{"type":"record","name":"Record1","fields":[{"name":"f1","type":["null",
    {"type":"array","items":{"type":"record","name":"InnerRecord1","namespace":"ns1","fields":[]}}]}]}"#;
const NESTED_IN_NAMESPACE_2: &str = r#"{"type":"record","name":"Record1","fields":[{"name":"f1","type":["null",
    {"type":"array","items":{"type":"record","name":"InnerRecord1","namespace":"ns2","fields":[]}}]}]}"#;

/// A reader's schema, a writer's, and what is wrong: kind, location and message of each reason.
type Incompatible = (&'static str, &'static str, &'static [(&'static str, &'static str, &'static str)]);

/// The pairs that are published as incompatible.
pub(crate) const INCOMPATIBLE: [Incompatible; 46] = [
    ("FIXED_4_BYTES", "FIXED_8_BYTES", &[("FIXED_SIZE_MISMATCH", "/size", "expected: 8, found: 4")]),
    ("FIXED_8_BYTES", "FIXED_4_BYTES", &[("FIXED_SIZE_MISMATCH", "/size", "expected: 4, found: 8")]),
    (
        "A_DINT_B_DFIXED_8_BYTES_RECORD1",
        "A_DINT_B_DFIXED_4_BYTES_RECORD1",
        &[("FIXED_SIZE_MISMATCH", "/fields/1/type/size", "expected: 4, found: 8")],
    ),
    (
        "A_DINT_B_DFIXED_4_BYTES_RECORD1",
        "A_DINT_B_DFIXED_8_BYTES_RECORD1",
        &[("FIXED_SIZE_MISMATCH", "/fields/1/type/size", "expected: 8, found: 4")],
    ),
    ("ENUM1_AB", "ENUM1_ABC", &[("MISSING_ENUM_SYMBOLS", "/symbols", "[C]")]),
    ("ENUM1_BC", "ENUM1_ABC", &[("MISSING_ENUM_SYMBOLS", "/symbols", "[A]")]),
    ("ENUM1_AB", "ENUM2_AB", &[("NAME_MISMATCH", "/name", "expected: Enum2")]),
    ("EMPTY_RECORD2", "EMPTY_RECORD1", &[("NAME_MISMATCH", "/name", "expected: Record1")]),
    ("FIXED_4_BYTES", "FIXED_4_ANOTHER_NAME", &[("NAME_MISMATCH", "/name", "expected: AnotherName")]),
    (
        "A_DINT_B_DENUM_1_RECORD1",
        "A_DINT_B_DENUM_2_RECORD1",
        &[("NAME_MISMATCH", "/fields/1/type/name", "expected: Enum2")],
    ),
    ("A_INT_RECORD1", "EMPTY_RECORD1", &[("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0", "a")]),
    ("A_INT_B_DINT_RECORD1", "EMPTY_RECORD1", &[("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0", "a")]),
    (
        "READER_WITH_TWO_FIELDS",
        "WRITER_WITH_TWO_FIELDS",
        &[("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/1", "newField1")],
    ),
    (
        "ENUM_AB_ENUM_DEFAULT_A_RECORD",
        "EMPTY_RECORD",
        &[("TYPE_MISMATCH", "/fields/0/type", "reader type: ENUM not compatible with writer type: RECORD")],
    ),
    ("NULL", "INT", &[("TYPE_MISMATCH", "/", "reader type: NULL not compatible with writer type: INT")]),
    ("NULL", "LONG", &[("TYPE_MISMATCH", "/", "reader type: NULL not compatible with writer type: LONG")]),
    (
        "BOOLEAN",
        "INT",
        &[("TYPE_MISMATCH", "/", "reader type: BOOLEAN not compatible with writer type: INT")],
    ),
    ("INT", "NULL", &[("TYPE_MISMATCH", "/", "reader type: INT not compatible with writer type: NULL")]),
    (
        "INT",
        "BOOLEAN",
        &[("TYPE_MISMATCH", "/", "reader type: INT not compatible with writer type: BOOLEAN")],
    ),
    ("INT", "LONG", &[("TYPE_MISMATCH", "/", "reader type: INT not compatible with writer type: LONG")]),
    ("INT", "FLOAT", &[("TYPE_MISMATCH", "/", "reader type: INT not compatible with writer type: FLOAT")]),
    (
        "LONG",
        "DOUBLE",
        &[("TYPE_MISMATCH", "/", "reader type: LONG not compatible with writer type: DOUBLE")],
    ),
    (
        "FLOAT",
        "DOUBLE",
        &[("TYPE_MISMATCH", "/", "reader type: FLOAT not compatible with writer type: DOUBLE")],
    ),
    (
        "DOUBLE",
        "STRING",
        &[("TYPE_MISMATCH", "/", "reader type: DOUBLE not compatible with writer type: STRING")],
    ),
    (
        "STRING",
        "DOUBLE",
        &[("TYPE_MISMATCH", "/", "reader type: STRING not compatible with writer type: DOUBLE")],
    ),
    ("BYTES", "INT", &[("TYPE_MISMATCH", "/", "reader type: BYTES not compatible with writer type: INT")]),
    (
        "A_INT_RECORD1",
        "INT",
        &[("TYPE_MISMATCH", "/", "reader type: RECORD not compatible with writer type: INT")],
    ),
    (
        "INT_ARRAY",
        "LONG_ARRAY",
        &[("TYPE_MISMATCH", "/items", "reader type: INT not compatible with writer type: LONG")],
    ),
    (
        "INT_MAP",
        "INT_ARRAY",
        &[("TYPE_MISMATCH", "/", "reader type: MAP not compatible with writer type: ARRAY")],
    ),
    (
        "INT_ARRAY",
        "INT_MAP",
        &[("TYPE_MISMATCH", "/", "reader type: ARRAY not compatible with writer type: MAP")],
    ),
    (
        "INT_MAP",
        "LONG_MAP",
        &[("TYPE_MISMATCH", "/values", "reader type: INT not compatible with writer type: LONG")],
    ),
    ("INT", "ENUM2_AB", &[("TYPE_MISMATCH", "/", "reader type: INT not compatible with writer type: ENUM")]),
    ("ENUM2_AB", "INT", &[("TYPE_MISMATCH", "/", "reader type: ENUM not compatible with writer type: INT")]),
    (
        "FLOAT",
        "INT_LONG_FLOAT_DOUBLE_UNION",
        &[("TYPE_MISMATCH", "/3", "reader type: FLOAT not compatible with writer type: DOUBLE")],
    ),
    (
        "LONG",
        "INT_FLOAT_UNION",
        &[("TYPE_MISMATCH", "/1", "reader type: LONG not compatible with writer type: FLOAT")],
    ),
    (
        "INT",
        "INT_FLOAT_UNION",
        &[("TYPE_MISMATCH", "/1", "reader type: INT not compatible with writer type: FLOAT")],
    ),
    (
        "INT_LIST_RECORD",
        "LONG_LIST_RECORD",
        &[("TYPE_MISMATCH", "/fields/0/type", "reader type: INT not compatible with writer type: LONG")],
    ),
    (
        "INT_UNION",
        "INT_STRING_UNION",
        &[("MISSING_UNION_BRANCH", "/1", "reader union lacking writer type: STRING")],
    ),
    (
        "STRING_UNION",
        "INT_STRING_UNION",
        &[("MISSING_UNION_BRANCH", "/0", "reader union lacking writer type: INT")],
    ),
    ("INT_UNION", "LONG_UNION", &[("MISSING_UNION_BRANCH", "/0", "reader union lacking writer type: LONG")]),
    (
        "LONG_UNION",
        "FLOAT_UNION",
        &[("MISSING_UNION_BRANCH", "/0", "reader union lacking writer type: FLOAT")],
    ),
    (
        "FLOAT_UNION",
        "DOUBLE_UNION",
        &[("MISSING_UNION_BRANCH", "/0", "reader union lacking writer type: DOUBLE")],
    ),
    (
        "NULL_INT_ARRAY_UNION",
        "NULL_INT_MAP_UNION",
        &[("MISSING_UNION_BRANCH", "/1", "reader union lacking writer type: MAP")],
    ),
    (
        "A_DINT_B_DINT_UNION_RECORD1",
        "A_DINT_B_DINT_STRING_UNION_RECORD1",
        &[("MISSING_UNION_BRANCH", "/fields/1/type/1", "reader union lacking writer type: STRING")],
    ),
    (
        "UNION_INT_RECORD1",
        "UNION_INT_RECORD2",
        &[("MISSING_UNION_BRANCH", "/1", "reader union lacking writer type: RECORD")],
    ),
    (
        "UNION_INT_RECORD1",
        "RECORD2_WITH_INT",
        &[("MISSING_UNION_BRANCH", "/", "reader union lacking writer type: RECORD")],
    ),
];

/// The pairs (reader, writer) that are published as compatible.
pub(crate) const COMPATIBLE: [(&str, &str); 63] = [
    ("NULL", "NULL"),
    ("BOOLEAN", "BOOLEAN"),
    ("INT", "INT"),
    ("LONG", "INT"),
    ("LONG", "LONG"),
    ("FLOAT", "INT"),
    ("FLOAT", "LONG"),
    ("DOUBLE", "INT"),
    ("DOUBLE", "LONG"),
    ("DOUBLE", "FLOAT"),
    ("STRING", "STRING"),
    ("BYTES", "BYTES"),
    ("STRING", "BYTES"),
    ("BYTES", "STRING"),
    ("INT_ARRAY", "INT_ARRAY"),
    ("LONG_ARRAY", "INT_ARRAY"),
    ("INT_MAP", "INT_MAP"),
    ("LONG_MAP", "INT_MAP"),
    ("ENUM1_AB", "ENUM1_AB"),
    ("ENUM1_ABC", "ENUM1_AB"),
    ("ENUM1_AB_DEFAULT_A", "ENUM1_ABC_DEFAULT_A"),
    ("EMPTY_UNION", "EMPTY_UNION"),
    ("FLOAT_UNION", "EMPTY_UNION"),
    ("FLOAT_UNION", "INT_UNION"),
    ("FLOAT_UNION", "LONG_UNION"),
    ("FLOAT_UNION", "INT_LONG_UNION"),
    ("INT_UNION", "INT_UNION"),
    ("INT_STRING_UNION", "STRING_INT_UNION"),
    ("INT_UNION", "EMPTY_UNION"),
    ("LONG_UNION", "EMPTY_UNION"),
    ("LONG_UNION", "INT_UNION"),
    ("DOUBLE_UNION", "INT_UNION"),
    ("DOUBLE_UNION", "INT_FLOAT_UNION"),
    ("STRING_UNION", "EMPTY_UNION"),
    ("STRING_UNION", "BYTES_UNION"),
    ("BYTES_UNION", "STRING_UNION"),
    ("FLOAT", "INT_FLOAT_UNION"),
    ("LONG", "INT_LONG_UNION"),
    ("DOUBLE", "INT_FLOAT_UNION"),
    ("DOUBLE", "INT_LONG_FLOAT_DOUBLE_UNION"),
    ("FLOAT", "FLOAT_UNION"),
    ("INT_UNION", "INT"),
    ("INT", "INT_UNION"),
    ("FIXED_4_BYTES", "FIXED_4_BYTES"),
    ("FIXED_4_NAMESPACE_V1", "FIXED_4_NAMESPACE_V2"),
    ("EMPTY_RECORD1", "EMPTY_RECORD1"),
    ("EMPTY_RECORD1", "A_INT_RECORD1"),
    ("A_INT_RECORD1", "A_INT_RECORD1"),
    ("A_DINT_RECORD1", "A_INT_RECORD1"),
    ("A_INT_RECORD1", "A_DINT_RECORD1"),
    ("A_LONG_RECORD1", "A_INT_RECORD1"),
    ("A_INT_RECORD1", "A_INT_B_INT_RECORD1"),
    ("A_DINT_RECORD1", "A_INT_B_INT_RECORD1"),
    ("A_INT_B_DINT_RECORD1", "A_INT_RECORD1"),
    ("A_DINT_B_DINT_RECORD1", "EMPTY_RECORD1"),
    ("A_DINT_B_DINT_RECORD1", "A_INT_RECORD1"),
    ("A_INT_B_INT_RECORD1", "A_DINT_B_DINT_RECORD1"),
    ("INT_LIST_RECORD", "INT_LIST_RECORD"),
    ("LONG_LIST_RECORD", "INT_LIST_RECORD"),
    ("ENUM_AB_ENUM_DEFAULT_A_RECORD", "ENUM_ABC_ENUM_DEFAULT_A_RECORD"),
    ("ENUM_AB_FIELD_DEFAULT_A_ENUM_DEFAULT_B_RECORD", "ENUM_ABC_FIELD_DEFAULT_B_ENUM_DEFAULT_A_RECORD"),
    ("NS_RECORD1", "NS_RECORD2"),
    ("READER_WITH_DEFAULT", "WRITER_WITH_TWO_FIELDS"),
];

/// The text of a published schema.
pub(crate) fn schema(name: &str) -> &'static str {
    let found = SCHEMAS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no published schema is called {name}")).1
}
