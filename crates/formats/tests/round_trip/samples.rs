//! A column a type, and the values of it that files get wrong.

/// A column of the table.
#[derive(Debug)]
pub(crate) struct Sample {
    /// The column's name.
    pub(crate) name: &'static str,
    /// Its type, as `CREATE TABLE` takes it.
    pub(crate) pg_type: &'static str,
    /// What a reader of NDJSON cannot tell from a value.
    pub(crate) leaf: Leaf,
    /// Whether every value fits into the column's type in Parquet, so that the column can be in such a file.
    pub(crate) in_parquet: bool,
    /// Texts that Postgres reads as values of the type.
    pub(crate) values: Vec<String>,
    /// What a reader's text is a value of, and what that has to be equal to, where that is not the column itself: an
    /// SQL expression in which `{c}` stands for the column.
    pub(crate) judged_as: Option<(&'static str, &'static str)>,
}

/// How a value is judged in NDJSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// As the text, the digits or the array that it is.
    Plain,
    /// As base64.
    Base64,
    /// As the JSON itself, character by character.
    Json,
}

/// What has to be made before the table.
pub(crate) const DEFINITIONS: [&str; 12] = [
    "CREATE EXTENSION hstore",
    "CREATE EXTENSION citext",
    "CREATE TYPE mood AS ENUM ('happy', 'so ''so''', '訂單', 'a,b', '')",
    "CREATE TYPE pair AS (a integer, b text)",
    "CREATE TYPE pair_of_pairs AS (x pair, y pair[])",
    "CREATE TYPE textrange AS RANGE (subtype = text)",
    "CREATE DOMAIN amount AS numeric(10, 2)",
    "CREATE DOMAIN positive_amount AS amount CHECK (VALUE > 0)",
    "CREATE DOMAIN amounts AS amount[]",
    "CREATE DOMAIN word AS text",
    "CREATE DOMAIN mood_word AS mood",
    "CREATE TABLE referenced (id integer)",
];

fn sample(name: &'static str, pg_type: &'static str, values: &[&str]) -> Sample {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    Sample { name, pg_type, leaf: Leaf::Plain, in_parquet: true, values, judged_as: None }
}

impl Sample {
    /// Some of its values cannot be in a Parquet file.
    fn not_in_parquet(self) -> Self {
        Self { in_parquet: false, ..self }
    }

    /// Its subscripts do not begin at 1, which no format says: the elements alone are compared.
    fn elements(self, array: &'static str) -> Self {
        let elements = "CASE WHEN {c} IS NOT NULL THEN ARRAY(SELECT unnest({c})) END";
        Self { judged_as: Some((array, elements)), ..self }
    }

    /// Its elements are told apart by a semicolon in Postgres' text of the whole: the elements' texts are compared.
    fn texts(self) -> Self {
        Self { judged_as: Some(("text[]", "{c}::text[]")), ..self }
    }

    fn leaf(self, leaf: Leaf) -> Self {
        Self { leaf, ..self }
    }

    fn and(mut self, value: impl Into<String>) -> Self {
        self.values.push(value.into());
        self
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Sample> {
    [numbers(), texts(), documents(), times(), arrays(), own_types(), the_rest()]
        .into_iter()
        .flatten()
        .collect()
}

fn numbers() -> Vec<Sample> {
    let floats = ["NaN", "Infinity", "-Infinity", "-0", "0.1", "1e23", "123456789012345680", "1"];
    vec![
        sample("c_bool", "boolean", &["true", "false"]),
        sample("c_int2", "smallint", &["-32768", "32767", "0"]),
        sample("c_int4", "integer", &["-2147483648", "2147483647", "-1"]),
        sample("c_int8", "bigint", &["-9223372036854775808", "9223372036854775807", "9007199254740993"]),
        sample("c_oid", "oid", &["0", "4294967295"]),
        sample("c_float4", "real", &floats).and("1e-45").and("3.4028235e38").and("16777217"),
        sample("c_float8", "double precision", &floats).and("5e-324").and("1.7976931348623157e308"),
        sample(
            "c_numeric",
            "numeric",
            &["NaN", "Infinity", "-Infinity", "0", "0.00", "-1.10", "1e-16383", "1e131071"],
        )
        .and("9".repeat(131_072))
        .and("12345678901234567890.123456789012345678900")
        .not_in_parquet(),
        sample("c_numeric_9_2", "numeric(9, 2)", &["0", "-0.01", "9999999.99", "-9999999.99", "1000000"]),
        sample("c_numeric_18_6", "numeric(18, 6)", &["999999999999.999999", "-0.000001", "10000", "0.0001"]),
        sample(
            "c_numeric_38_10",
            "numeric(38, 10)",
            &["9999999999999999999999999999.9999999999", "-1e-10", "1e27"],
        )
        .and("-9999999999999999999999999999.9999999999"),
        sample("c_numeric_5_m2", "numeric(5, -2)", &["1234567", "-100", "0"]),
        sample("c_numeric_2_4", "numeric(2, 4)", &["0.0099", "-0.0001"]),
        sample("c_numeric_nan", "numeric(4, 1)", &["NaN", "1.5"]).not_in_parquet(),
        sample("c_money", "money", &["-92233720368547758.08", "92233720368547758.07", "0.5"]),
    ]
}

fn texts() -> Vec<Sample> {
    let awkward = [
        "",
        " ",
        "NULL",
        "null",
        "\\N",
        "\\.",
        "\"",
        "\"\"",
        "'",
        "a,b",
        "a;b",
        "a|b",
        "a\tb",
        "line\nbreak",
        "\r",
        "cr\r\nlf",
        "\n",
        "=1+1",
        "-x",
        "\\",
        "\\\"",
        "訂單匯出",
        "👩\u{200d}🚀",
        "שלום עולם",
        "e\u{301}",
        "\u{feff}bom",
        "\u{2028}\u{2029}",
        "\u{1}\u{8}\u{b}\u{c}\u{1f}\u{7f}\u{80}\u{9f}",
        "\u{10ffff}\u{ffff}",
        " padded ",
        "{}",
        "</script>",
    ];
    vec![
        sample("c_text", "text", &awkward).and("x\"\n".repeat(40_000)),
        sample("c_varchar", "varchar(5)", &["", "12345", "訂單訂單訂"]),
        sample("c_bpchar", "character(6)", &["", "ab", "訂單"]),
        sample("c_char", "\"char\"", &["", "a", "\"", "\n"]),
        sample("c_name", "name", &["", "a \"name\""]),
        sample("c_bytea", "bytea", &["", "\\x00ff0a0d2c22", "\\x5c78"])
            .and((0..=255).map(|byte| format!("\\{byte:03o}")).collect::<String>())
            .leaf(Leaf::Base64),
    ]
}

fn documents() -> Vec<Sample> {
    let big = "{\"big\": 123456789012345678901234567890.000100, \"exp\": 1e400, \"a\": [null, true, {\"b\": \"訂\\u0001\"}]}";
    vec![
        sample(
            "c_json",
            "json",
            &["null", "\"x\"", "{\"dup\":1,\"dup\":2.50}", "{\n \"a\" :\r\n [1 ,2]\t}\n"],
        )
        .and("\"\\ud83d\\ude00\\u0000\\n\"")
        .and(big)
        .leaf(Leaf::Json),
        sample("c_jsonb", "jsonb", &["null", "[]", "\"\\n\"", "-0.0"]).and(big).leaf(Leaf::Json),
        sample("c_jsonpath", "jsonpath", &["$.\"a\"[*]?(@ > 1)"]),
        sample(
            "c_xml",
            "xml",
            &["<a b=\"c\">訂</a>", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a/>", ""],
        ),
        sample("c_tsvector", "tsvector", &["'a':1A 'b''c':2,3B", ""]),
        sample("c_tsquery", "tsquery", &["'a' & !'b' <2> 'c':*A"]),
        sample("c_hstore", "hstore", &["\"a\"=>\"1\", \"b\"=>NULL, \"訂,\"=>\"\\\"\"", ""]),
        sample("c_citext", "citext", &["MiXed", "", "a,\"b\""]),
    ]
}

fn times() -> Vec<Sample> {
    let dates = [
        "4714-11-24 BC",
        "5874897-12-31",
        "0001-12-31 BC",
        "0001-01-01",
        "2000-02-29",
        "1969-12-31",
        "1900-03-01",
    ];
    let stamps = [
        "4714-11-24 00:00:00 BC",
        "4713-01-01 00:00:00.000001 BC",
        "0044-03-15 12:00:00.5 BC",
        "0001-01-01 00:00:00",
        "1969-12-31 23:59:59.999999",
        "1999-12-31 23:59:59.999999",
        "10000-01-01 00:00:00",
        "294246-12-31 23:59:59.999999",
    ];
    vec![
        sample("c_date", "date", &dates),
        sample("c_date_far", "date", &["infinity", "-infinity"]).not_in_parquet(),
        sample("c_time", "time", &["00:00", "23:59:59.999999", "12:30"]),
        sample("c_time_end", "time", &["24:00"]).not_in_parquet(),
        sample("c_timetz", "timetz", &["24:00-15:59:59", "00:00+15:59:59", "12:00:00.5+02:30:15", "12:00Z"]),
        sample("c_timestamp", "timestamp", &stamps),
        sample("c_timestamp_far", "timestamp", &["infinity", "-infinity", "294276-12-31 23:59:59.999999"])
            .not_in_parquet(),
        sample("c_timestamptz", "timestamptz", &stamps)
            .and("2024-03-10 03:30:00 America/New_York")
            .and("2024-11-03 01:30:00-05"),
        sample(
            "c_timestamptz_far",
            "timestamptz",
            &["infinity", "-infinity", "294276-12-31 23:59:59.999999Z"],
        )
        .not_in_parquet(),
        sample(
            "c_interval",
            "interval",
            &["1 year -2 mons 3 days -04:05:06.789", "-178000000 years", "0", "1 microsecond"],
        ),
    ]
}

fn arrays() -> Vec<Sample> {
    vec![
        sample("c_int4s", "integer[]", &["{}", "{1,NULL,-3}", "{NULL}", "{2147483647}"]),
        sample("c_int4s_deep", "integer[]", &["{{1,2},{3,NULL}}", "{{{1},{2}},{{3},{4}}}", "{{{{{{7}}}}}}"])
            .not_in_parquet(),
        sample("c_texts", "text[]", &["{\"\",NULL,\"NULL\",\"a\\\"b\\\\c\",\"{},\",\" x \",訂單}", "{}"]),
        sample("c_bools", "boolean[]", &["{t,f,NULL}"]),
        sample("c_float8s", "double precision[]", &["{NaN,-Infinity,0.1,-0,NULL}"]),
        sample("c_float4s", "real[]", &["{NaN,Infinity,0.1,16777217}"]),
        sample("c_numerics", "numeric[]", &["{NaN,1e-40,NULL,12345678901234567890.10}"]).not_in_parquet(),
        sample("c_numerics_12_3", "numeric(12, 3)[]", &["{0.001,NULL,-999999999.999}", "{}"]),
        sample("c_byteas", "bytea[]", &["{\"\\\\x00ff\",NULL,\"\"}"]).leaf(Leaf::Base64),
        sample("c_uuids", "uuid[]", &["{00112233-4455-6677-8899-aabbccddeeff,NULL}"]),
        sample("c_dates", "date[]", &["{2000-02-29,0044-03-15 BC,NULL}"]),
        sample(
            "c_timestamptzs",
            "timestamptz[]",
            &["{\"2024-03-10 03:30:00-04\",NULL,\"0044-03-15 00:00:00+00 BC\"}"],
        ),
        sample("c_jsonbs", "jsonb[]", &["{\"{\\\"a\\\": [1.10, null]}\",NULL,\"null\"}"]).leaf(Leaf::Json),
        sample("c_intervals", "interval[]", &["{\"1 day -00:00:01\",NULL}", "{}"]),
        sample("c_inets", "inet[]", &["{10.0.0.1,10.0.0.0/8,::1,NULL}"]),
        sample("c_ranges", "int4range[]", &["{\"[1,5)\",empty,NULL,\"(,)\"}"]),
        sample("c_xmls", "xml[]", &["{<a/>,NULL,\"<b c=\\\"d\\\"/>\"}"]),
        sample("c_moods", "mood[]", &["{happy,NULL,\"so 'so'\",訂單,\"\",\"a,b\"}"]),
        sample("c_amount_array", "amount[]", &["{1.50,NULL,-99999999.99}"]),
        sample("c_amounts", "amounts", &["{1.50,NULL,-99999999.99}", "{}"]),
        sample("c_pairs", "pair[]", &["{\"(1,x)\",NULL,\"(,)\",\"(2,\\\"a,\\\"\\\"b\\\")\"}"]),
        sample("c_hstores", "hstore[]", &["{\"\\\"a\\\"=>\\\"1\\\"\",NULL}"]),
        sample("c_citexts", "citext[]", &["{Ab,NULL,\"\"}"]),
        sample("c_boxes", "box[]", &["{(2,2),(1,1);(4,4),(3,3)}"]).texts(),
        sample("c_int4s_bounds", "integer[]", &["[0:2]={7,NULL,9}", "[-5:-5]={1}"]).elements("integer[]"),
    ]
}

fn own_types() -> Vec<Sample> {
    vec![
        sample("c_mood", "mood", &["happy", "so 'so'", "訂單", "a,b", ""]),
        sample("c_mood_word", "mood_word", &["happy", "訂單"]),
        sample("c_amount", "amount", &["-0.01", "99999999.99"]),
        sample("c_positive_amount", "positive_amount", &["0.01"]),
        sample("c_word", "word", &["", "a,b"]),
        sample("c_pair", "pair", &["(1,x)", "(,)", "(,\"\")", "(-1,\"a,\"\"b\\\\\n\")"]),
        sample("c_pair_of_pairs", "pair_of_pairs", &["(\"(1,x)\",\"{\"\"(2,y)\"\",NULL}\")", "(,)"]),
        sample("c_textrange", "textrange", &["[a,b)", "empty", "(,)", "[\"a,\",\"訂\"]"]),
        sample("c_textmultirange", "textmultirange", &["{}", "{[a,b),[c,d]}"]),
    ]
}

fn the_rest() -> Vec<Sample> {
    vec![
        sample(
            "c_uuid",
            "uuid",
            &["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
        )
        .and("00112233-4455-6677-8899-aabbccddeeff"),
        sample(
            "c_inet",
            "inet",
            &["10.0.0.1", "10.0.0.1/8", "::", "::1", "::ffff:1.2.3.4", "::1.2.3.4", "2001:db8::1:0:0:1/64"],
        )
        .and("1:0:0:4:5:0:0:8")
        .and("0.0.0.0/0"),
        sample("c_cidr", "cidr", &["10.0.0.0/8", "10.0.0.1/32", "2001:db8::/32", "::/0"]),
        sample("c_macaddr", "macaddr", &["08:00:2b:01:02:03"]),
        sample("c_macaddr8", "macaddr8", &["08:00:2b:01:02:03:04:05"]),
        sample("c_bit", "bit(5)", &["10101"]),
        sample("c_varbit", "bit varying", &["", "1", "0000000000000000000000001"]),
        sample("c_int4range", "int4range", &["[1,5)", "empty", "(,)"]),
        sample("c_int8range", "int8range", &["[9007199254740993,)"]),
        sample("c_numrange", "numrange", &["(1e-30,2.50]"]),
        sample("c_tsrange", "tsrange", &["[2024-01-01 00:00,infinity)", "[\"0044-03-15 00:00:00 BC\",)"]),
        sample("c_tstzrange", "tstzrange", &["[2024-01-01 00:00+02,)"]),
        sample("c_daterange", "daterange", &["[2024-01-01,2024-02-01)"]),
        sample("c_int4multirange", "int4multirange", &["{}", "{[1,3),[7,9)}"]),
        sample("c_tstzmultirange", "tstzmultirange", &["{[2024-01-01 00:00+02,2024-01-02 00:00+02)}"]),
        sample("c_point", "point", &["(0.1,-1e300)"]),
        sample("c_line", "line", &["{1,-1,0}"]),
        sample("c_lseg", "lseg", &["[(0,0),(1,1)]"]),
        sample("c_box", "box", &["(1,1),(0,0)"]),
        sample("c_path", "path", &["[(0,0),(1,1)]", "((0,0),(1,1))"]),
        sample("c_polygon", "polygon", &["((0,0),(1,1),(2,0))"]),
        sample("c_circle", "circle", &["<(0,0),2.5>"]),
        sample("c_pg_lsn", "pg_lsn", &["16/B374D848"]),
        sample("c_xid", "xid", &["4294967295"]),
        sample("c_xid8", "xid8", &["18446744073709551615"]),
        sample("c_cid", "cid", &["1"]),
        sample("c_tid", "tid", &["(0,1)"]),
        sample("c_txid_snapshot", "txid_snapshot", &["10:20:10,14,15"]),
        sample("c_pg_snapshot", "pg_snapshot", &["10:20:10,14,15"]),
        sample("c_regclass", "regclass", &["referenced", "pg_class"]),
        sample("c_regtype", "regtype", &["timestamp with time zone", "mood"]),
        sample("c_regproc", "regproc", &["array_out"]),
        sample("c_regprocedure", "regprocedure", &["lower(text)"]),
        sample("c_regoperator", "regoperator", &["!~~*(text,text)"]),
        sample("c_regrole", "regrole", &["pg_monitor"]),
        sample("c_regnamespace", "regnamespace", &["pg_catalog"]),
        sample("c_regconfig", "regconfig", &["english"]),
        sample("c_refcursor", "refcursor", &["a \"cursor\""]),
        sample("c_aclitem", "aclitem", &["pg_monitor=r/pg_monitor"]),
        sample("c_int2vector", "int2vector", &["1 2 3", ""]).elements("smallint[]"),
        sample("c_oidvector", "oidvector", &["1 4294967295"]).elements("oid[]"),
    ]
}
