//! Where in a JSON text something is (RFC 6901).

use std::fmt;

/// A pointer that is kept while a text is walked through.
#[derive(Debug, Default)]
pub(crate) struct Pointer {
    parts: Vec<String>,
}

impl Pointer {
    pub(crate) fn push(&mut self, part: &str) {
        self.parts.push(escaped(part));
    }

    pub(crate) fn pop(&mut self) {
        self.parts.pop();
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| write!(f, "/{part}"))
    }
}

/// One part as a pointer writes it.
pub(crate) fn escaped(part: &str) -> String {
    part.replace('~', "~0").replace('/', "~1")
}
