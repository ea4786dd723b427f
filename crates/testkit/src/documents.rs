//! The repository's own texts, for tests that compare what a document says with what there is.

use std::path::Path;
use std::{fs, process};

/// What separates a block of code from the text around it.
const FENCE: &str = "```";

/// Every file of the repository whose name matches, with its text: those that git knows, and those that it would take.
///
/// # Panics
/// When git does not answer, or a file is no text.
#[must_use]
pub fn texts(pattern: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = process::Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pattern])
        .current_dir(&root)
        .output()
        .expect("git lists the files");
    let names = String::from_utf8(listed.stdout).expect("names in UTF-8");
    let names = names.split('\0').filter(|name| root.join(name).is_file());
    names.map(|name| (name.to_owned(), fs::read_to_string(root.join(name)).expect("a text"))).collect()
}

/// The blocks of code in a document.
pub fn blocks(document: &str) -> impl Iterator<Item = &str> {
    document.split(FENCE).skip(1).step_by(2)
}

/// What stands between backticks in a document's text. No block of code is looked into, and no span goes on behind its
/// paragraph, so that a backtick too many does not turn all that follows inside out.
pub fn spans(document: &str) -> impl Iterator<Item = &str> {
    let paragraphs = document.split(FENCE).step_by(2).flat_map(|text| text.split("\n\n"));
    paragraphs.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backtick_too_many_reaches_no_further_than_its_paragraph() {
        let document = "see `one`\n```sh\necho `date\n```\nand `two` and ` this\n\nthen `three\nfour`";
        assert_eq!(spans(document).collect::<Vec<_>>(), ["one", "two", " this", "three\nfour"]);
        assert_eq!(blocks(document).collect::<Vec<_>>(), ["sh\necho `date\n"]);
    }
}
