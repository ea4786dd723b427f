//! What the documents tell people to type is what can be typed.

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use waybill_testkit::documents::{blocks, spans, texts};

use super::Cli;

/// Where a command line ends, or one inside of it begins. What a comment says begins behind the two blanks.
const BOUNDARIES: [&str; 9] = ["\n", "  ", "$(", ")", "&&", " | ", " > ", " &", " #"];

/// What somebody could put where a document leaves open what it is.
const SAMPLES: [(&str, &str); 11] = [
    ("EXPORT_ID", "exp_1"),
    ("FILE", "orders.toml"),
    ("ID", "exp_1"),
    ("NAME", "shop"),
    ("NOUN", "parked"),
    ("ROLE", "relay"),
    ("SEQ", "1"),
    ("SERVICE_ACCOUNT_ID", "sva_1"),
    ("TENANT_ID", "ten_1"),
    ("URL", "postgres://localhost/shop"),
    ("VERB", "list"),
];

/// The same where it only shows that a flag wants something.
const SAMPLES_OF_FLAGS: [(&str, &str); 2] = [("--reason", "because"), ("--scope", "exports:read")];

/// The command lines of a document: those between fences, and those between backticks in its text, which may go on in the
/// next line.
fn command_lines(document: &str) -> Vec<String> {
    let texts = spans(document).map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    texts.chain(blocks(document).map(str::to_owned)).flat_map(|text| commands_in(&text)).collect()
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

/// The words as somebody could type them, with a sample for each that the reader knows: `SEQ`, `ROLE…`. What stands for the
/// rest of a command is left out.
fn typed(words: Vec<String>) -> Result<Vec<String>, String> {
    let sample_of = |samples: &[(&str, &str)], wanted: &str| {
        let sample = samples.iter().find(|(name, _)| *name == wanted).map(|(_, sample)| (*sample).to_owned());
        sample.ok_or_else(|| format!("nobody knows what to type for {wanted}"))
    };
    let mut typed: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        if word == "…" {
            if let Some(flag) = typed.last().filter(|last| last.starts_with("--")) {
                typed.push(sample_of(&SAMPLES_OF_FLAGS, flag)?);
            }
            continue;
        }
        let name = word.trim_end_matches('…');
        if !name.is_empty() && name.chars().all(|char| char.is_ascii_uppercase() || char == '_') {
            typed.push(sample_of(&SAMPLES, name)?);
        } else {
            typed.push(word);
        }
    }
    Ok(typed)
}

/// What nobody could type of this line, if there is something. A command is often only named, without all that it takes.
fn complaint(line: &str) -> Option<String> {
    let words = match typed(words(line)) {
        Ok(words) => words,
        Err(complaint) => return Some(complaint),
    };
    let last = words.last().cloned().unwrap_or_default();
    let error = Cli::try_parse_from(words).err()?;
    // The value of the last flag is left out.
    if let (Some(ContextValue::String(value)), Some(ContextValue::String(flag))) =
        (error.get(ContextKind::InvalidValue), error.get(ContextKind::InvalidArg))
        && value.is_empty()
        && last.starts_with("--")
        && flag.split(' ').next() == Some(&last)
    {
        return None;
    }
    let is_only_named = [
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayVersion,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
    ];
    (!is_only_named.contains(&error.kind())).then(|| error.to_string())
}

#[test]
fn every_command_line_in_the_documents_can_be_typed() {
    let mut found = 0;
    let mut complaints = Vec::new();
    for (path, text) in texts("*.md") {
        for line in command_lines(&text) {
            found += 1;
            let wrong = alternatives(&line).iter().filter_map(|line| complaint(line)).collect::<Vec<_>>();
            complaints.extend(wrong.iter().map(|wrong| format!("{path}: `{line}`: {wrong}")));
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
    for wrong in [
        "waybill outbox instal",
        "waybill parked list --all",
        "waybill run relays",
        "waybill run ROLE… relays",
        "waybill parked retry SEQ --reason r --bogus",
        "waybill parked retry SEQ --reason … --bogus",
        "waybill outbox install … --bogus",
        "waybill parked retry ''",
        "waybill parked list --topic --bogus",
        "waybill parked show WHICH",
    ] {
        assert!(complaint(wrong).is_some(), "{wrong}");
    }
}
