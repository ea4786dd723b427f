//! What the api says to Postgres when it accepts an export: read from the server's log, not from the api's code.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::callers::{Callers, wish};

/// How often an export is asked for until two acceptances said the same: at first connections are made.
const TRIES_MAX: usize = 10;

/// One statement with the texts of its parameters, as the server read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    /// `None` is NULL.
    pub(crate) parameters: Vec<Option<String>>,
}

/// One acceptance.
#[derive(Debug)]
pub(crate) struct Acceptance {
    /// The idempotency key that it was asked for with.
    pub(crate) intent: String,
    pub(crate) statements: Vec<Statement>,
}

/// Two acceptances of one caller, of the same statements: what differs between them is of one acceptance alone.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) first: Acceptance,
    pub(crate) second: Acceptance,
}

impl Recording {
    pub(crate) fn len(&self) -> usize {
        self.first.statements.len()
    }
}

/// Asks for exports until two in a row were accepted by the same statements. Nobody else may be logged meanwhile.
pub(crate) async fn record(log: &Path, callers: &Callers) -> Result<Recording> {
    let caller = callers.at(0)?;
    let mut last: Option<Acceptance> = None;
    for number in 0..TRIES_MAX {
        let intent = format!("recorded-{number}");
        let mut file = File::open(log).context("Postgres has no log")?;
        file.seek(SeekFrom::End(0))?;
        // The answer comes after the last statement, and a statement is logged before it is carried out.
        caller.ask(&intent, &wish(&[])).await?;
        let mut text = String::new();
        file.read_to_string(&mut text).context("Postgres' log cannot be read")?;
        let second = Acceptance { intent, statements: statements(&text)? };
        if let Some(first) = last.filter(|first| same(first, &second)) {
            return Ok(Recording { first, second });
        }
        last = Some(second);
    }
    bail!("no two of {TRIES_MAX} acceptances said the same to Postgres");
}

fn same(one: &Acceptance, other: &Acceptance) -> bool {
    let sql = |acceptance: &Acceptance| -> Vec<String> {
        acceptance.statements.iter().map(|statement| statement.sql.clone()).collect()
    };
    !one.statements.is_empty() && sql(one) == sql(other)
}

/// The statements in a text that `log_statement = all` wrote.
fn statements(log: &str) -> Result<Vec<Statement>> {
    let mut statements: Vec<Statement> = Vec::new();
    for (severity, text) in messages(log) {
        // What is said at once, and what is said with a name for the statement, or without one.
        let said = text.strip_prefix("statement: ");
        let said = said.or_else(|| Some(text.strip_prefix("execute ")?.split_once(": ")?.1));
        // PostgreSQL 16 begins it with a capital.
        let list = text.strip_prefix("parameters: ").or_else(|| text.strip_prefix("Parameters: "));
        match (severity, said, list) {
            ("LOG", Some(sql), _) => {
                statements.push(Statement { sql: sql.trim_end().to_owned(), parameters: Vec::new() });
            }
            ("DETAIL", _, Some(list)) => {
                let statement = statements.last_mut().context("parameters of no statement")?;
                statement.parameters = parameters(list)
                    .with_context(|| format!("these are no parameters, or not all of them: {list}"))?;
            }
            _ => {}
        }
    }
    Ok(statements)
}

/// The messages by severity, without what else stands before each. A line that goes on begins with a tab.
fn messages(log: &str) -> Vec<(&str, String)> {
    let mut messages: Vec<(&str, String)> = Vec::new();
    for line in log.lines() {
        if let (Some(rest), Some((_, text))) = (line.strip_prefix('\t'), messages.last_mut()) {
            text.push('\n');
            text.push_str(rest);
        } else if let Some((before, text)) = line.split_once(":  ") {
            messages.push((before.rsplit(' ').next().unwrap_or_default(), text.to_owned()));
        }
    }
    messages
}

/// `$1 = 'it''s', $2 = NULL`.
fn parameters(list: &str) -> Option<Vec<Option<String>>> {
    let (mut parameters, mut rest) = (Vec::new(), list);
    while !rest.is_empty() {
        let (_, value) = rest.strip_prefix('$')?.split_once(" = ")?;
        let (parameter, after) = match value.strip_prefix("NULL") {
            Some(after) => (None, after),
            None => {
                let (text, after) = quoted(value)?;
                (Some(text), after)
            }
        };
        parameters.push(parameter);
        rest = if after.is_empty() { after } else { after.strip_prefix(", ")? };
    }
    Some(parameters)
}

/// A text in quotes, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut inside = String::new();
    let mut rest = text.strip_prefix('\'')?;
    loop {
        let (part, after) = rest.split_once('\'')?;
        inside.push_str(part);
        match after.strip_prefix('\'') {
            Some(more) => {
                inside.push('\'');
                rest = more;
            }
            None => return Some((inside, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_as_the_statements_in_it() {
        let log = "2026-12-01 04:00:00.000 UTC [7] LOG:  statement: BEGIN\n\
                   2026-12-01 04:00:00.001 UTC [7] waybill_api@waybill LOG:  execute <unnamed>: -- Why.\n\
                   \tSELECT $1, $2,\n\
                   \t    $3;\n\
                   \t\n\
                   2026-12-01 04:00:00.001 UTC [7] DETAIL:  parameters: $1 = 'it''s, $2', $2 = NULL, $3 = ''\n\
                   2026-12-01 04:00:00.002 UTC [9] LOG:  checkpoint starting: time\n\
                   2026-12-01 04:00:00.003 UTC [7] LOG:  execute s1: SELECT 1\n";
        let parameters = vec![Some("it's, $2".to_owned()), None, Some(String::new())];
        let statement = |sql: &str, parameters| Statement { sql: sql.to_owned(), parameters };
        let expected = [
            statement("BEGIN", vec![]),
            statement("-- Why.\nSELECT $1, $2,\n    $3;", parameters),
            statement("SELECT 1", vec![]),
        ];
        assert_eq!(statements(log).unwrap(), expected);
    }

    #[test]
    fn parameters_that_were_cut_off_are_an_error() {
        assert_eq!(parameters("$1 = 'abc"), None);
        let error = statements("x [7] LOG:  execute s: SELECT $1\nx [7] DETAIL:  parameters: $1 = 'abc...\n");
        assert!(error.is_err());
    }
}
