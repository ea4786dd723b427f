//! How text becomes searchable, alike for documents and for queries.
//!
//! Chinese, Japanese and Korean have no spaces between words, so a run of such characters becomes its overlapping
//! pairs, at consecutive positions; a phrase of them is found by the pairs standing side by side. Everything else
//! becomes lower-cased words. The outcome is Postgres' own text form of `tsvector` and `tsquery`
//! (PostgreSQL manual, section 8.11), so that no text search configuration of the server takes part.

use std::collections::BTreeMap;

/// The longest word that is kept, in characters; the rest of a longer one is not searchable.
pub const WORD_CHARACTERS_MAX: usize = 64;

/// The highest position that Postgres keeps in a `tsvector`; text beyond it is not searchable.
pub const POSITION_MAX: u32 = 16_383;

/// The most parts a query may have; further ones are left out.
pub const QUERY_PARTS_MAX: usize = 32;

/// The `tsvector` literal of a document made of these texts, in order.
pub fn document_tokens(texts: &[&str]) -> String {
    let mut positions: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut position = 0;
    for run in texts.iter().flat_map(|text| runs(text)) {
        for token in run.document_tokens() {
            position += 1;
            if position > POSITION_MAX {
                return literal(&positions);
            }
            positions.entry(token).or_default().push(position);
        }
    }
    literal(&positions)
}

/// The `tsquery` literal of what a person typed, or `None` where nothing in it is searchable. All parts must be
/// found; a word also finds what begins with it.
pub fn query(text: &str) -> Option<String> {
    let parts: Vec<String> = runs(text).take(QUERY_PARTS_MAX).map(|run| run.query_part()).collect();
    if parts.is_empty() { None } else { Some(parts.join(" & ")) }
}

/// Characters that belong together: a word, or neighbours in a script without spaces.
enum Run {
    Word(String),
    Unspaced(Vec<char>),
}

impl Run {
    fn document_tokens(&self) -> Vec<String> {
        match self {
            Self::Word(word) => vec![word.clone()],
            Self::Unspaced(characters) => {
                let mut tokens: Vec<String> =
                    characters.windows(2).map(|pair| pair.iter().collect()).collect();
                // The last character begins no pair: alone it stays findable as a prefix.
                tokens.extend(characters.last().map(char::to_string));
                tokens
            }
        }
    }

    fn query_part(&self) -> String {
        match self {
            Self::Word(word) => format!("{}:*", quoted(word)),
            Self::Unspaced(characters) if characters.len() == 1 => {
                format!("{}:*", quoted(&characters[0].to_string()))
            }
            Self::Unspaced(characters) => {
                let pairs: Vec<String> =
                    characters.windows(2).map(|pair| quoted(&pair.iter().collect::<String>())).collect();
                format!("({})", pairs.join(" <-> "))
            }
        }
    }
}

fn runs(text: &str) -> impl Iterator<Item = Run> {
    let mut characters = text.chars().flat_map(char::to_lowercase).filter(|c| *c != '\0').peekable();
    std::iter::from_fn(move || {
        while characters.next_if(|c| !c.is_alphanumeric()).is_some() {}
        let first = characters.peek().copied()?;
        if is_unspaced(first) {
            let mut run = Vec::new();
            while let Some(c) = characters.next_if(|c| is_unspaced(*c)) {
                run.push(c);
            }
            return Some(Run::Unspaced(run));
        }
        let mut word = String::new();
        let mut length = 0;
        while let Some(c) = characters.next_if(|c| c.is_alphanumeric() && !is_unspaced(*c)) {
            if length < WORD_CHARACTERS_MAX {
                word.push(c);
            }
            length += 1;
        }
        Some(Run::Word(word))
    })
}

/// Letters of Han, Hiragana, Katakana, Bopomofo and Hangul, by their Unicode blocks.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}'
        | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{3105}'..='\u{312F}' | '\u{3131}'..='\u{318E}'
        | '\u{31A0}'..='\u{31BF}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{323AF}')
        && c.is_alphanumeric()
}

fn literal(positions: &BTreeMap<String, Vec<u32>>) -> String {
    // Postgres keeps 256 positions a token at the most.
    const POSITIONS_MAX: usize = 256;
    let tokens: Vec<String> = positions
        .iter()
        .map(|(token, at)| {
            let at: Vec<String> = at.iter().take(POSITIONS_MAX).map(u32::to_string).collect();
            format!("{}:{}", quoted(token), at.join(","))
        })
        .collect();
    tokens.join(" ")
}

fn quoted(token: &str) -> String {
    format!("'{}'", token.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chinese_becomes_pairs_and_its_last_character() {
        assert_eq!(document_tokens(&["匯出完成"]), "'出完':2 '匯出':1 '完成':3 '成':4");
    }

    #[test]
    fn two_characters_are_one_pair_in_a_query() {
        assert_eq!(query("完成").as_deref(), Some("('完成')"));
    }

    #[test]
    fn a_longer_run_asks_for_its_pairs_side_by_side() {
        assert_eq!(query("匯出完").as_deref(), Some("('匯出' <-> '出完')"));
    }

    #[test]
    fn one_character_is_asked_for_as_the_beginning_of_a_pair() {
        assert_eq!(query("匯").as_deref(), Some("'匯':*"));
    }

    #[test]
    fn words_are_lower_cased_and_all_of_them_are_wanted() {
        assert_eq!(query("Quarterly REPORT").as_deref(), Some("'quarterly':* & 'report':*"));
    }

    #[test]
    fn words_and_unspaced_runs_part_where_the_script_changes() {
        assert_eq!(document_tokens(&["Q3報表2026"]), "'2026':4 'q3':1 '報表':2 '表':3");
    }

    #[test]
    fn a_query_without_letters_or_digits_is_none() {
        assert_eq!(query(" ,.!'\\"), None);
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_quoting(text in "\\PC*") {
            let tokens = document_tokens(&[&text]);
            prop_assert_eq!(tokens.matches('\'').count() % 2, 0);
        }

        #[test]
        fn every_part_of_a_query_made_of_the_text_itself_is_a_token_of_it(text in "[a-z匯出完成あいう ]{1,40}") {
            let tokens = document_tokens(&[&text]);
            for part in query(&text).unwrap_or_default().split(['&', '(', ')', ' ']) {
                let token = part.trim_end_matches(":*");
                if token.starts_with('\'') && !part.ends_with(":*") {
                    prop_assert!(tokens.contains(token), "{token} is missing in {tokens}");
                }
            }
        }
    }
}
