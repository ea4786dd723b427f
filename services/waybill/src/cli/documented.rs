//! What the documents tell people to type is what can be typed.

use std::path::{Path, PathBuf};
use std::{fs, process};

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Cli;

/// Where a command line ends, or one inside of it begins. What a comment says begins behind the two blanks.
const BOUNDARIES: [&str; 9] = ["\n", "  ", "$(", ")", "&&", " | ", " > ", " &", " #"];

/// Every document, by its path.
fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed =
        process::Command::new("git").args(["ls-files", "-z", "--", "*.md"]).current_dir(&root).output();
    let names = String::from_utf8(listed.expect("git lists the files").stdout).expect("names in UTF-8");
    let names = names.split('\0').filter(|name| root.join(name).is_file());
    names.map(|name| (name.into(), fs::read_to_string(root.join(name)).expect("a text"))).collect()
}

/// The command lines of a document: those between fences, and those between backticks in its text, which may go on in the
/// next line.
fn command_lines(document: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (n, part) in document.split("```").enumerate() {
        if n % 2 == 1 {
            lines.extend(commands_in(part));
        } else {
            for span in part.split('`').skip(1).step_by(2) {
                let line: Vec<&str> = span.split_whitespace().collect();
                lines.extend(commands_in(&line.join(" ")));
            }
        }
    }
    lines
}

fn commands_in(text: &str) -> Vec<String> {
    let text = BOUNDARIES.iter().fold(text.to_owned(), |text, boundary| text.replace(boundary, "\0"));
    let parts = text.split('\0').map(|part| part.trim().trim_start_matches('"'));
    parts.filter(|part| part.starts_with("waybill ")).map(str::to_owned).collect()
}

/// The words of a command line, of which each may be quoted as a whole.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (n, part) in line.split(['\'', '"']).enumerate() {
        if n % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The lines that one of words such as `list|show` stands for.
fn alternatives(line: &str) -> Vec<String> {
    match line.split_whitespace().find(|word| word.contains('|')) {
        Some(choice) => choice.split('|').map(|chosen| line.replacen(choice, chosen, 1)).collect(),
        None => vec![line.to_owned()],
    }
}

/// What stands for something that the reader knows: `SEQ`, `ROLE…`, or the rest of a command.
fn is_placeholder(word: &str) -> bool {
    word.contains('…') || word.chars().all(|char| char.is_ascii_uppercase() || char == '_')
}

/// What nobody could type of this line, if there is something. A command is often only named, without all that it takes.
fn complaint(line: &str) -> Option<String> {
    let error = Cli::try_parse_from(words(line)).err()?;
    let is_only_named = [
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayVersion,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
    ];
    if is_only_named.contains(&error.kind()) {
        return None;
    }
    let said = [ContextKind::InvalidValue, ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let is_known_to_the_reader = said
        .iter()
        .any(|kind| matches!(error.get(*kind), Some(ContextValue::String(word)) if is_placeholder(word)));
    (!is_known_to_the_reader).then(|| error.to_string())
}

#[test]
fn every_command_line_in_the_documents_can_be_typed() {
    let mut found = 0;
    let mut complaints = Vec::new();
    for (path, text) in documents() {
        for line in command_lines(&text) {
            found += 1;
            let wrong = alternatives(&line).iter().filter_map(|line| complaint(line)).collect::<Vec<_>>();
            complaints.extend(wrong.iter().map(|wrong| format!("{}: `{line}`: {wrong}", path.display())));
        }
    }
    assert!(found > 40, "found only {found} command lines in the documents");
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn what_cannot_be_typed_is_found_and_what_is_left_open_is_not() {
    let document = "see `waybill outbox install --schema shop` and `waybill\nparked retry SEQ --reason …`\n\
        ```sh\nid=$(waybill tenant create acme --json | jq -r .tenant_id)\nwaybill up &   # all of it\n```";
    let lines = command_lines(document);
    let expected = [
        "waybill outbox install --schema shop",
        "waybill parked retry SEQ --reason …",
        "waybill tenant create acme --json",
        "waybill up",
    ];
    assert_eq!(lines, expected);
    for line in expected {
        assert_eq!(complaint(line), None, "{line}");
    }
    assert_eq!(alternatives("waybill parked list|show"), ["waybill parked list", "waybill parked show"]);
    for wrong in ["waybill outbox instal", "waybill parked list --all", "waybill run relays"] {
        assert!(complaint(wrong).is_some(), "{wrong}");
    }
}
