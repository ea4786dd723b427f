//! Errors as an operator reads them: whole, and on one line.

use std::error::Error;

/// What an error and its causes say, the outermost first, each said once: drivers like to repeat their source.
#[must_use]
pub fn causes(error: &dyn Error) -> Vec<String> {
    let mut said = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if said.last().is_none_or(|last| !last.contains(&text)) {
            said.push(text);
        }
        source = cause.source();
    }
    said
}

/// An error and its causes on one line.
#[must_use]
pub fn chain(error: &dyn Error) -> String {
    causes(error).join(": ")
}

#[cfg(test)]
mod tests {
    use super::{causes, chain};

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Said {
        text: &'static str,
        source: Option<Box<Said>>,
    }

    #[test]
    fn every_cause_is_on_the_line_and_one_that_only_repeats_is_said_once() {
        let refused = Said { text: "connection refused", source: None };
        let driver = Said { text: "cannot connect: connection refused", source: Some(refused.into()) };
        let outermost = Said { text: "the database is away", source: Some(driver.into()) };
        assert_eq!(causes(&outermost), ["the database is away", "cannot connect: connection refused"]);
        assert_eq!(chain(&outermost), "the database is away: cannot connect: connection refused");
    }
}
