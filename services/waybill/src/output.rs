//! What a command prints: its answer on stdout, everything else on stderr.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::codes;
use crate::exit::{CommandError, Exit};

/// How answers are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// One JSON document instead of text.
    pub(crate) json: bool,
}

impl Output {
    /// Prints `value` as JSON when that was asked for, or what `text` makes of it.
    pub(crate) fn answer<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), CommandError> {
        if self.json { self.json(value) } else { self.text(&text(value)) }
    }

    /// Prints one JSON document and a line break.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result<(), CommandError> {
        let text = serde_json::to_string_pretty(value).map_err(|error| {
            CommandError::new(Exit::Failed, codes::OUTPUT_FAILED, "the answer has no JSON form")
                .with_source(error)
        })?;
        self.text(&text)
    }

    /// Prints text, with a line break at its end.
    pub(crate) fn text(&self, text: &str) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        let written =
            stdout.write_all(text.trim_end_matches('\n').as_bytes()).and_then(|()| stdout.write_all(b"\n"));
        match written {
            // `waybill … | head` has read what it wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(|error| {
                CommandError::new(Exit::Failed, codes::OUTPUT_FAILED, "cannot write the answer")
                    .with_source(error)
            }),
        }
    }

    /// Says on stderr what is going on, to a person only.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            eprintln!("{text}");
        }
    }

    /// Prints why a command was not done: on stderr, as JSON when that was asked for.
    pub(crate) fn error(&self, error: &CommandError) {
        if self.json {
            eprintln!("{}", error.json());
            return;
        }
        let (red, bold, plain) =
            if io::stderr().is_terminal() { ("\x1b[31m", "\x1b[1m", "\x1b[0m") } else { ("", "", "") };
        eprintln!("{red}{bold}error:{plain} {}", error.message);
        for cause in error.causes() {
            eprintln!("  because {cause}");
        }
        if let Some(hint) = &error.hint {
            eprintln!("  {bold}try:{plain} {hint}");
        }
        eprintln!("  code: {} (docs/errors/{}.md)", error.code, error.code);
    }
}

/// Lines up the cells of rows under their headings.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..headings.len()).map(width).collect();
    let headings = headings.iter().map(ToString::to_string).collect();
    let mut text = String::new();
    for row in std::iter::once(&headings).chain(rows) {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn cells_stand_under_their_headings() {
        let rows = [vec!["export".into(), "3".into()], vec!["a".into(), "10".into()]];
        assert_eq!(table(&["schema", "to"], &rows), "schema  to\nexport  3\na       10\n");
    }
}
