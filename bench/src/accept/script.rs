//! From a recording to a script of `pgbench`: the same statements, with values of its own where each acceptance has them.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result, bail, ensure};

use super::recorded::{Recording, Statement};

/// What a caller's ids begin with, by which `bench.callers` names its columns.
const OF_CALLER: [&str; 3] = ["ten", "sva", "key"];

/// What an id of an acceptance begins with that is a caller's own name for its wish.
const INTENT: &str = "pgbench";

/// A script, and the variables that it wants to be started with.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) text: String,
    pub(crate) variables: Vec<(String, String)>,
}

/// What stands in the place of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    /// NULL.
    Null,
    /// The same in every acceptance of everybody, or of no consequence.
    Constant(String),
    /// The caller's.
    OfCaller(&'static str),
    /// An id that is made for this acceptance, by its prefix and by what it was in the recording.
    Made { prefix: String, recorded: String },
    /// The number that the last row of the outbox got.
    Seq,
}

/// A script of so many acceptances.
pub(crate) fn script(recording: &Recording, acceptances: u64) -> Result<Script> {
    let (first, second) = (&recording.first, &recording.second);
    let mut statements = Vec::new();
    for (one, other) in first.statements.iter().zip(&second.statements) {
        ensure!(one.parameters.len() == other.parameters.len(), "a statement has other parameters each time");
        let pairs = one.parameters.iter().zip(&other.parameters);
        let values: Result<Vec<Value>> = pairs
            .map(|(one, other)| value((one.as_deref(), &first.intent), (other.as_deref(), &second.intent)))
            .collect();
        statements.push((one, values?));
    }
    let mut names = Names::default();
    let mut body = String::new();
    for number in 0..acceptances {
        for (statement, values) in &statements {
            body.push_str(&one_statement(statement, values, number, &mut names)?);
        }
    }
    let mut text = format!(
        "SELECT {} FROM bench.callers WHERE client = :client_id \\gset\nSELECT\n    {}\n\\gset\n",
        OF_CALLER.join(", "),
        names.made_columns(acceptances).join(",\n    ")
    );
    text.push_str(&body);
    Ok(Script { text, variables: names.constants() })
}

fn value((one, intent): (Option<&str>, &str), (other, other_intent): (Option<&str>, &str)) -> Result<Value> {
    let (one, other) = match (one, other) {
        (None, None) => return Ok(Value::Null),
        (Some(one), Some(other)) => (one, other),
        (Some(value), None) | (None, Some(value)) => bail!("{value} is NULL in another acceptance"),
    };
    if (one, other) == (intent, other_intent) {
        return Ok(Value::Made { prefix: INTENT.to_owned(), recorded: one.to_owned() });
    }
    let prefix = id_prefix(one).filter(|prefix| id_prefix(other) == Some(*prefix));
    if one == other {
        let column = OF_CALLER.into_iter().find(|column| prefix == Some(*column));
        return Ok(column.map_or_else(|| Value::Constant(one.to_owned()), Value::OfCaller));
    }
    Ok(match prefix {
        Some(prefix) => Value::Made { prefix: prefix.to_owned(), recorded: one.to_owned() },
        None if one.parse::<i64>().is_ok() && other.parse::<i64>().is_ok() => Value::Seq,
        // A time, or bytes that hold an id: nothing hangs on them, and they are as long.
        None => Value::Constant(one.to_owned()),
    })
}

/// What an id begins with, before its underscore and 32 digits.
fn id_prefix(text: &str) -> Option<&str> {
    let (prefix, digits) = text.split_once('_')?;
    let is_hex = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    (prefix.len() == 3 && is_hex).then_some(prefix)
}

/// The variables that are in use.
#[derive(Debug, Default)]
struct Names {
    constants: BTreeMap<String, usize>,
    /// By prefix and recorded id.
    made: BTreeMap<(String, String), usize>,
}

impl Names {
    fn of(&mut self, value: &Value, acceptance: u64) -> String {
        let (constants, made) = (self.constants.len(), self.made.len());
        match value {
            Value::Null => "NULL".to_owned(),
            Value::Constant(text) => {
                format!(":c{}", self.constants.entry(text.clone()).or_insert(constants))
            }
            Value::OfCaller(column) => format!(":{column}"),
            Value::Made { prefix, recorded } => {
                let key = (prefix.clone(), recorded.clone());
                format!(":m{}_{acceptance}", self.made.entry(key).or_insert(made))
            }
            Value::Seq => ":seq".to_owned(),
        }
    }

    fn constants(self) -> Vec<(String, String)> {
        self.constants.into_iter().map(|(text, number)| (format!("c{number}"), text)).collect()
    }

    /// What makes the ids of all acceptances.
    fn made_columns(&self, acceptances: u64) -> Vec<String> {
        let each = |acceptance| {
            let columns = self.made.iter();
            columns
                .map(move |((prefix, _), number)| format!("bench.id('{prefix}_') AS m{number}_{acceptance}"))
        };
        (0..acceptances).flat_map(each).collect()
    }
}

/// One statement with `pgbench`'s variables in the place of parameters. Its comments are left out, as `pgbench` would look for
/// variables in them.
fn one_statement(
    statement: &Statement,
    values: &[Value],
    acceptance: u64,
    names: &mut Names,
) -> Result<String> {
    let lines = statement.sql.lines().filter(|line| !line.trim_start().starts_with("--"));
    let sql = lines.collect::<Vec<_>>().join("\n");
    let sql = sql.trim().trim_end_matches(';');
    ensure!(!sql.contains("--") && !sql.contains('\\'), "pgbench may misread {sql}");
    // A cast is two colons, and anything else behind one may be a variable's name.
    ensure!(!sql.replace("::", "").contains(':'), "pgbench would see a variable in {sql}");
    let mut parts = sql.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        let (number, rest) = part.split_at(digits);
        let place: usize = number.parse().with_context(|| format!("no parameter's number in {sql}"))?;
        let value = place.checked_sub(1).and_then(|place| values.get(place));
        let value = value.with_context(|| format!("${place} has no value in {sql}"))?;
        write!(text, "{}{rest}", names.of(value, acceptance))?;
    }
    // Of a row of the outbox the number is wanted, by what follows.
    let end = if text.contains("RETURNING seq") { " \\gset" } else { ";" };
    Ok(format!("{text}{end}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accept::recorded::Acceptance;

    const TENANT: &str = "ten_00000000000000000000000000000001";

    fn acceptance(digit: char, seq: &str) -> Acceptance {
        let statement = |sql: &str, parameters: &[Option<&str>]| Statement {
            sql: sql.to_owned(),
            parameters: parameters.iter().map(|text| text.map(str::to_owned)).collect(),
        };
        let export_id = format!("exp_{}", digit.to_string().repeat(32));
        let intent = format!("recorded-{digit}");
        let inserted = [Some(TENANT), Some(intent.as_str()), Some(&export_id), None, Some("1")];
        let statements = vec![
            statement("BEGIN", &[]),
            statement("-- With $9.\nINSERT INTO i VALUES ($1, $2, $3, $4, $5, $3);", &inserted),
            statement("INSERT INTO events (payload) VALUES ($1)\nRETURNING seq", &[Some(&export_id[1..])]),
            statement("INSERT INTO facts VALUES ($1, $2::bigint);", &[Some(&export_id), Some(seq)]),
        ];
        Acceptance { intent, statements }
    }

    #[test]
    fn what_differs_between_acceptances_is_made_for_each() {
        let recording = Recording { first: acceptance('a', "7"), second: acceptance('b', "9") };
        let script = script(&recording, 2).unwrap();
        let expected = "SELECT ten, sva, key FROM bench.callers WHERE client = :client_id \\gset\n\
            SELECT\n    \
            bench.id('exp_') AS m1_0,\n    bench.id('pgbench_') AS m0_0,\n    \
            bench.id('exp_') AS m1_1,\n    bench.id('pgbench_') AS m0_1\n\\gset\n\
            BEGIN;\nINSERT INTO i VALUES (:ten, :m0_0, :m1_0, NULL, :c0, :m1_0);\n\
            INSERT INTO events (payload) VALUES (:c1)\nRETURNING seq \\gset\n\
            INSERT INTO facts VALUES (:m1_0, :seq::bigint);\n\
            BEGIN;\nINSERT INTO i VALUES (:ten, :m0_1, :m1_1, NULL, :c0, :m1_1);\n\
            INSERT INTO events (payload) VALUES (:c1)\nRETURNING seq \\gset\n\
            INSERT INTO facts VALUES (:m1_1, :seq::bigint);\n";
        assert_eq!(script.text, expected);
        let variables = [("c0", "1"), ("c1", &format!("xp_{}", "a".repeat(32)))];
        assert_eq!(script.variables, variables.map(|(name, text)| (name.to_owned(), text.to_owned())));
    }

    #[test]
    fn what_pgbench_would_misread_is_an_error() {
        let mut names = Names::default();
        for sql in ["SELECT ':name'", "SELECT 1 -- one", "SELECT $1", "SELECT '\\x'"] {
            let statement = Statement { sql: sql.to_owned(), parameters: vec![] };
            assert!(one_statement(&statement, &[], 0, &mut names).is_err(), "{sql}");
        }
    }
}
