//! A decision needs a reason, and what a person writes needs bounds.

use crate::refusal::Refusal;

/// The longest reason, in characters.
pub const REASON_CHARACTERS_MAX: usize = 1_000;

/// Why something is decided, without blanks around it.
///
/// # Errors
/// [`Refusal::Invalid`].
pub fn reason(text: &str) -> Result<String, Refusal> {
    line("reason", text, REASON_CHARACTERS_MAX)
}

/// A line of text without blanks around it: 1 to `characters_max` characters, none of which is a control character.
///
/// # Errors
/// [`Refusal::Invalid`].
pub fn line(field: &'static str, text: &str, characters_max: usize) -> Result<String, Refusal> {
    let text = text.trim();
    let fits = (1..=characters_max).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if fits {
        return Ok(text.to_owned());
    }
    Err(Refusal::invalid(
        field,
        format!("must be 1 to {characters_max} characters without control characters"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_or_endless_reason_or_one_of_several_lines_is_none() {
        assert_eq!(reason(" too many \u{20}"), Ok("too many".to_owned()));
        let endless = "x".repeat(REASON_CHARACTERS_MAX + 1);
        for wrong in ["", " ", "a\nb", "\u{7}", &endless] {
            assert!(matches!(reason(wrong), Err(Refusal::Invalid { field: "reason", .. })), "{wrong:?}");
        }
        assert!(reason(&"訂".repeat(REASON_CHARACTERS_MAX)).is_ok(), "characters, not bytes");
    }
}
